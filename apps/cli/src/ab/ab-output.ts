import {
  AB_GNUPLOT_NOTE,
  AB_REPORT_LEAD,
  type AbTextOptions,
  abBanner,
  abBenchmarkingLine,
  abCounts,
  abCsv,
  abDifferenceLines,
  abExitOf,
  abFinishLine,
  abGnuplot,
  abHasProgress,
  abHtmlBanner,
  abHtmlReport,
  abNotes,
  abReplyLog,
  abReport,
  FAILURE_PHRASES,
  failureCounts,
  formatCounted,
  type LiveMessage,
  parseTarget,
  printable,
  proxyNameOf,
  type Report,
} from '@broadside/shared';
import type { JsonDestination } from '../output/json-file.js';
import { writeJsonReport } from '../output/json-report.js';
import { columnsOf, writeNote, writeOut } from '../output/streams.js';
import type { AbOptions } from './ab-options.js';
import { AbProgress } from './ab-progress.js';

/** Files beside the report. */
export interface AbFiles {
  readonly json: JsonDestination | undefined;
  readonly csv: JsonDestination | undefined;
  readonly samples: JsonDestination | undefined;
}

/** The text of `ab`, in its order, on its streams. With the JSON report on stdout, the text is on stderr. */
export class AbOutput {
  readonly #options: AbOptions;
  readonly #files: AbFiles;
  readonly #hasProgress: boolean;
  readonly #progress: AbProgress;
  readonly #host: string;
  #isLineOpen = false;

  constructor(options: AbOptions, files: AbFiles) {
    this.#options = options;
    this.#files = files;
    this.#hasProgress = abHasProgress(options.requests, options.quiet);
    this.#progress = new AbProgress(options.requests);
    const target = parseTarget(options.url);
    this.#host = typeof target === 'string' ? options.url : target.host;
  }

  /**
   * Awaited, so that nothing is sent when its report could not be written.
   * @param request the request as it goes on the wire, which ab shows from verbosity 2 on.
   * @throws CliError with EXIT.file.
   */
  async begin(request: string): Promise<void> {
    const { html, proxy } = this.#options;
    const line = abBenchmarkingLine(this.#host, this.#hasProgress, proxyNameOf({ proxy }));
    // With an HTML report ab says nothing of its start, but ends the line it has not begun.
    const lead = html === undefined ? abBanner() + line : abHtmlBanner();
    this.#isLineOpen = !this.#hasProgress;
    const { verbosity, method } = this.#options;
    const shown = verbosity >= 2 ? `INFO: ${method} header == \n---\n${request}\n---\n` : '';
    if (this.#files.json?.isStdout === true) process.stderr.write(lead + shown);
    else await writeOut(lead + shown);
  }

  progress(message: LiveMessage): void {
    if (!this.#hasProgress || message.kind !== 'second') return;
    this.#show(message.total.completed + message.total.failed);
  }

  breakLine(): void {
    if (this.#isLineOpen) this.#write('\n');
    this.#isLineOpen = false;
  }

  /**
   * Prints the end and the report, and gives the exit code of `ab`.
   * @param isOurStop whether whoever waits here has stopped the run, and so knows.
   */
  async end(report: Report, isOurStop: boolean): Promise<number> {
    const { complete } = abCounts(report, this.#options.counting);
    const exit = abExitOf(report, this.#host);
    this.#replyLog(report);
    if (this.#hasProgress) this.#show(complete);
    if (report.run.state === 'finished' && report.fatal === undefined) this.#finish(complete);
    if (exit.stderr !== undefined) {
      this.breakLine();
      process.stderr.write(`${exit.stderr}\n`);
    } else if (report.run.state === 'aborted' && !isOurStop) {
      // `ab` can only be interrupted by its own person, and says nothing then.
      this.breakLine();
      writeNote(
        `the run was stopped before its end: ${printable(report.run.reason ?? 'no reason is known')}`,
      );
    }
    if (exit.totalLine !== undefined) this.#write(`${exit.totalLine}\n`);
    // A fatal error before the first reply has nothing to report, and `ab` stops at its message.
    if (complete > 0 || exit.stderr === undefined) {
      this.#write(AB_REPORT_LEAD + this.#report(report));
      this.#notes(report);
    } else if (this.#options.counting === 'classic') {
      process.stderr.write(
        abDifferenceLines(report)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
    if (this.#options.html === undefined && complete > 0) await this.#writeFiles(report);
    await writeJsonReport(this.#files.json, report);
    return exit.code;
  }

  /** As ab: in text mode only, and not without any reply. */
  async #writeFiles(report: Report): Promise<void> {
    const { csv, samples } = this.#files;
    await csv?.write(abCsv(report));
    if (samples === undefined) return;
    await samples.write(abGnuplot(report));
    writeNote(AB_GNUPLOT_NOTE);
  }

  /** Of all replies that ab prints one after the other, the first, which is the one that is kept. */
  #replyLog(report: Report): void {
    const { verbosity, requests } = this.#options;
    const log = abReplyLog(report, verbosity);
    if (log === '') return;
    this.#write(Buffer.from(log, 'latin1'));
    this.#isLineOpen = false;
    if (requests !== 1) writeNote('-v: the first reply is printed; ab prints each of them');
  }

  #show(done: number): void {
    const lines = this.#progress.linesUpTo(done);
    if (lines.length > 0) process.stderr.write(lines.join(''));
  }

  #finish(done: number): void {
    const { stream, text } = abFinishLine(done, this.#hasProgress);
    if (stream === 'stderr') process.stderr.write(text);
    else this.#write(text);
    this.#isLineOpen = false;
  }

  #report(report: Report): string {
    const options: AbTextOptions = {
      keepAlive: this.#options.keepAlive,
      hasBody: this.#options.bodyFile !== undefined,
      variableLength: this.#options.acceptVariableLength,
      noPercentiles: this.#options.omitPercentiles,
      shortTimes: this.#options.shortTimes,
      host: this.#host,
      concurrency: this.#options.concurrency,
      counting: this.#options.counting,
    };
    const { html } = this.#options;
    return html === undefined ? abReport(report, options) : abHtmlReport(report, options, html);
  }

  /** Programs read stdout for `ab`'s report; what `ab` cannot say goes beside it. */
  #notes(report: Report): void {
    process.stderr.write(abNotes(report, this.#options.counting, columnsOf(process.stderr)));
    if (this.#options.verbosity < 1) return;
    for (const { failureClass, count } of failureCounts(report)) {
      writeNote(`${formatCounted(count, 'request')}: ${FAILURE_PHRASES[failureClass]}`);
    }
  }

  #write(text: string | Uint8Array): void {
    if (this.#files.json?.isStdout === true) process.stderr.write(text);
    else process.stdout.write(text);
  }
}

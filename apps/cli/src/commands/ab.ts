import {
  AB_REPORT_LEAD,
  abBanner,
  abBenchmarkingLine,
  abCounts,
  abExitOf,
  abFinishLine,
  abHasProgress,
  abNotes,
  abReport,
  EXIT,
  FAILURE_PHRASES,
  failureCounts,
  LIMITS,
  type LiveMessage,
  type Plan,
  parseTarget,
  type Report,
} from '@broadside/shared';
import { AB_EXIT, type AbOptions, parseAbCommandLine } from '../ab/ab-options.js';
import { describeAbProblems, planOfAb } from '../ab/ab-plan.js';
import { AbProgress } from '../ab/ab-progress.js';
import { assertPlanFits } from '../client/coordinator-client.js';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { wholeNumberFlag } from '../flags.js';
import { help } from '../help/ab.help.js';
import { describeFileError } from '../output/file-error.js';
import { type JsonDestination, openJsonDestination } from '../output/json-file.js';
import { writeJsonReport } from '../output/json-report.js';
import { writeNote, writeOut } from '../output/streams.js';
import { fireRun } from '../run/fire-run.js';
import { readBoundedFile } from '../run/read-file.js';
import { StopSignals } from '../run/stop-signals.js';

/** `broadside ab`: the options, the text and the exit codes of `ab`. */
export async function execute(words: readonly string[]): Promise<number> {
  const commandLine = parseAbCommandLine(words);
  switch (commandLine.kind) {
    case 'help':
      await writeOut(help);
      return EXIT.ok;
    case 'version':
      await writeOut(abBanner());
      return EXIT.ok;
    case 'mistake':
      process.stderr.write(mistakeText(commandLine.text, commandLine.exitCode));
      return commandLine.exitCode;
    case 'run':
      return await executeOptions(commandLine.options);
  }
}

/** `-h` prints everything; a mistake says where everything is, because a page of options would bury the reason. */
function mistakeText(text: string, exitCode: number): string {
  if (text === '') return help;
  const usage =
    'Usage: broadside ab [options] [http://]host[:port]/path (`broadside ab -h` lists the options)\n';
  return `${text}\n${exitCode === AB_EXIT.usage ? usage : ''}`;
}

async function executeOptions(options: AbOptions): Promise<number> {
  const json = options.jsonFile === undefined ? undefined : await openJsonDestination(options.jsonFile);
  const prepared = await preparePlan(options);
  if (typeof prepared === 'string') {
    process.stderr.write(`${prepared}\n`);
    return prepared.startsWith('ab: Could not') ? AB_EXIT.valueError : AB_EXIT.usage;
  }
  const openCluster = chooseCluster({
    remote: { flag: '--agents-at', url: options.coordinatorUrl, token: options.token },
    slots: prepared.slots,
    onSlowStart: () => process.stderr.isTTY && writeNote('starting…'),
  });
  for (const note of options.notes) writeNote(note);
  const out = new AbOutput(options, json);
  // `ab` ends with 1 when it is interrupted, and is killed by SIGTERM.
  const signals = new StopSignals((signal) => (signal === 'SIGINT' ? 1 : EXIT.terminated));
  try {
    out.begin();
    const report = await fireRun({
      plan: prepared,
      openCluster,
      signals,
      onMessage: (message) => out.progress(message),
      onNotice: writeNote,
    });
    const exitCode = await out.end(report);
    return signals.received === 'SIGTERM' ? EXIT.terminated : exitCode;
  } catch (error) {
    // The line of `Benchmarking …` may still be open on the terminal.
    out.breakLine();
    throw error;
  } finally {
    signals.dispose();
  }
}

/** The plan, or the line that says why there is none. */
async function preparePlan(options: AbOptions): Promise<Plan | string> {
  let body: Buffer | undefined;
  if (options.bodyFile !== undefined) {
    try {
      body = await readBoundedFile(options.bodyFile, LIMITS.maxRequestBodyBytes);
    } catch (error) {
      return `ab: Could not open POST data file (${options.bodyFile}): ${describeFileError(error)}`;
    }
  }
  wholeNumberFlag('--slots', options.slots, { least: 1, most: LIMITS.maxShards });
  const parsed = planOfAb(options, body);
  if (!parsed.ok) return `ab: ${describeAbProblems(parsed)}`;
  assertPlanFits(parsed.plan);
  return parsed.plan;
}

/** The text of `ab`, in its order, on its streams. With the JSON report on stdout, the text is on stderr. */
class AbOutput {
  readonly #options: AbOptions;
  readonly #json: JsonDestination | undefined;
  readonly #hasProgress: boolean;
  readonly #progress: AbProgress;
  readonly #host: string;
  #isLineOpen = false;

  constructor(options: AbOptions, json: JsonDestination | undefined) {
    this.#options = options;
    this.#json = json;
    this.#hasProgress = abHasProgress(options.requests, options.quiet);
    this.#progress = new AbProgress(options.requests);
    const target = parseTarget(options.url);
    this.#host = typeof target === 'string' ? options.url : target.host;
  }

  begin(): void {
    this.#write(abBanner() + abBenchmarkingLine(this.#host, this.#hasProgress));
    this.#isLineOpen = !this.#hasProgress;
  }

  progress(message: LiveMessage): void {
    if (!this.#hasProgress || message.kind !== 'second') return;
    this.#show(message.total.completed + message.total.failed);
  }

  breakLine(): void {
    if (this.#isLineOpen) this.#write('\n');
    this.#isLineOpen = false;
  }

  /** Prints the end and the report, and gives the exit code of `ab`. */
  async end(report: Report): Promise<number> {
    const { complete } = abCounts(report);
    const exit = abExitOf(report, this.#host);
    if (this.#hasProgress) this.#show(complete);
    if (report.run.state === 'finished' && report.fatal === undefined) this.#finish(complete);
    if (exit.stderr !== undefined) {
      this.breakLine();
      process.stderr.write(`${exit.stderr}\n`);
    }
    if (exit.totalLine !== undefined) this.#write(`${exit.totalLine}\n`);
    // A fatal error before the first reply has nothing to report, and `ab` stops at its message.
    if (complete > 0 || exit.stderr === undefined) {
      this.#write(AB_REPORT_LEAD + this.#report(report));
      this.#notes(report);
    }
    await writeJsonReport(this.#json, report);
    return exit.code;
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
    return abReport(report, {
      keepAlive: this.#options.keepAlive,
      hasBody: this.#options.bodyFile !== undefined,
      variableLength: this.#options.acceptVariableLength,
      noPercentiles: this.#options.omitPercentiles,
      shortTimes: this.#options.shortTimes,
      host: this.#host,
      concurrency: this.#options.concurrency,
    });
  }

  /** Programs read stdout for `ab`'s report; what `ab` cannot say goes beside it. */
  #notes(report: Report): void {
    process.stderr.write(abNotes(report));
    if (this.#options.verbosity < 1) return;
    for (const { failureClass, count } of failureCounts(report)) {
      writeNote(`${count} requests: ${FAILURE_PHRASES[failureClass]}`);
    }
  }

  #write(text: string): void {
    if (this.#json?.isStdout === true) process.stderr.write(text);
    else process.stdout.write(text);
  }
}

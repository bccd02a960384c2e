import { BROADSIDE_VERSION } from '../../version.js';
import { printable } from './printable.js';

/** Up to so many requests ab shows no progress. */
const QUIET_REQUESTS = 150;
/** `-t` without `-n`: ab's own cap of 50 000 requests gives its step; there is no cap here. */
const STEP_WITHOUT_BUDGET = 5_000;

/** The lines that ab prints before anything else. Programs read the first one, so its form is ab's. */
export function abBanner(): string {
  return (
    `This is ApacheBench, Version 2.3 <$Revision: broadside-${BROADSIDE_VERSION} $>\n` +
    'Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/\n' +
    'Licensed to The Apache Software Foundation, http://www.apache.org/\n\n'
  );
}

/** Whether ab would report its progress on stderr. Without a request budget (`-t` alone) it does. */
export function abHasProgress(requests: number | undefined, isQuiet: boolean): boolean {
  return !isQuiet && (requests === undefined || requests > QUIET_REQUESTS);
}

/** The same before an HTML report. The second paragraph is never closed, as in ab. */
export function abHtmlBanner(): string {
  const [version = '', ...others] = abBanner().trimEnd().split('\n');
  const lines = [version.replace(/<(.*)>/, '<i>&lt;$1&gt;</i>'), ...others];
  return `<p>\n${lines.map((line) => ` ${line}<br>\n`).join('')}</p>\n<p>\n`;
}

/**
 * `Benchmarking …`, for stdout; no line end without progress, because `..done` follows.
 * @param proxy `host:port`, where requests go through one.
 */
export function abBenchmarkingLine(host: string, hasProgress: boolean, proxy?: string): string {
  const through = proxy === undefined ? '' : `[through ${printable(proxy)}] `;
  return `Benchmarking ${printable(host)} ${through}(be patient)${hasProgress ? '\n' : '...'}`;
}

/** A progress line is due each time so many more requests are done. */
export function abProgressStep(requests: number | undefined): number {
  return requests === undefined ? STEP_WITHOUT_BUDGET : Math.max(100, Math.floor(requests / 10));
}

/** For stderr. */
export function abProgressLine(done: number): string {
  return `Completed ${done} requests\n`;
}

/** The end of the progress: a line on stderr with progress, the rest of the first line on stdout without. */
export function abFinishLine(
  done: number,
  hasProgress: boolean,
): { readonly stream: 'stdout' | 'stderr'; readonly text: string } {
  return hasProgress
    ? { stream: 'stderr', text: `Finished ${done} requests\n` }
    : { stream: 'stdout', text: '..done\n' };
}

/** What ab prints between its start lines and the report. */
export const AB_REPORT_LEAD = '\n\n';

import { LIMITS } from '../../limits.js';
import { bucketIndexOf, highestValueOf } from '../../metrics/histogram.js';
import type { Latency, Report } from '../report.schema.js';
import { abRoundMs } from './ab-times.js';

/** Said beside the file: what its rows are, where ab has one for each request as it was. */
export const AB_GNUPLOT_NOTE =
  '-g: rows are made from histograms: durations are within 0.1 %, each starts with the run, and the parts of a ' +
  'first request on a connection, and all waits, have only their rank in common';

interface Row {
  readonly connectUs: number;
  readonly totalUs: number;
}

/**
 * ab's file of samples for gnuplot (`-g`): a row for each complete reply, sorted by its duration. Broadside keeps
 * histograms, so that the rows are those of the same distribution, and the curve that people plot from the file is
 * the same. Of more than `LIMITS.maxAbSamples` replies as many are written, evenly spaced by rank.
 */
export function abGnuplot({ latency, run }: Pick<Report, 'latency' | 'run'>): string {
  const { fresh, reused, connect, wait } = latency;
  const count = fresh.count + reused.count;
  const rows = Math.min(count, LIMITS.maxAbSamples);
  const freshRows = count === 0 ? 0 : Math.round((rows * fresh.count) / count);
  const connectUs = samplesOf(connect, freshRows);
  const first = samplesOf(fresh, freshRows).map((totalUs, i) => ({ totalUs, connectUs: connectUs[i] ?? 0 }));
  const later = samplesOf(reused, rows - freshRows).map((totalUs) => ({ totalUs, connectUs: 0 }));
  const waits = samplesOf(wait, rows);
  const started = startOf(run);
  const lines = mergedByTotal(first, later).map((row, i) => lineOf(started, row, waits[i] ?? 0));
  return `${['starttime\tseconds\tctime\tdtime\tttime\twait', ...lines].join('\n')}\n`;
}

function lineOf(started: string, { connectUs, totalUs }: Row, waitUs: number): string {
  const processingUs = Math.max(totalUs - connectUs, 0);
  const times = [connectUs, processingUs, totalUs, Math.min(waitUs, processingUs)];
  return `${started}\t${times.map(abRoundMs).join('\t')}`;
}

/** So many samples of a distribution, in rising order and evenly spaced by rank. */
function samplesOf(latency: Latency, wanted: number): number[] {
  const samples: number[] = [];
  let bin = -1;
  let seen = 0;
  for (let i = 0; i < wanted && latency.count > 0; i++) {
    const rank = Math.floor(((i + 0.5) * latency.count) / wanted) + 1;
    while (seen < rank && bin + 1 < latency.bins.length) seen += latency.bins[++bin]?.[1] ?? 0;
    const highestUs = highestValueOf(bucketIndexOf(latency.bins[bin]?.[0] ?? 0));
    samples.push(Math.max(Math.min(highestUs, latency.maxUs), latency.minUs));
  }
  return samples;
}

function mergedByTotal(some: readonly Row[], others: readonly Row[]): Row[] {
  return [...some, ...others].sort((a, b) => a.totalUs - b.totalUs);
}

/** `Mon Nov 30 18:46:16 2026` in local time, a tab, and the seconds since 1970. */
function startOf({ startedAt, createdAt }: Report['run']): string {
  const date = new Date(startedAt ?? createdAt);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
  const day = `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${two(date.getDate())}`;
  return `${day} ${time} ${date.getFullYear()}\t${Math.floor(date.getTime() / 1_000)}`;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

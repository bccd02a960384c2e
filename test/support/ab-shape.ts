// A strict reader of ab's text report (the classic generation, httpd 2.4). It knows every line, column and unit
// of the format, refuses anything else with the line's number, and tells the shape of a report: the same lines
// with values replaced by their printf kinds, so that two reports can be compared line by line.

import { LineTemplate } from './line-template.js';

export interface AbTimesRow {
  readonly min: number;
  readonly mean: number;
  /** Absent with `-S`. */
  readonly sd: number | undefined;
  /** Absent with `-S`. */
  readonly median: number | undefined;
  readonly max: number;
}

export type AbTimesName = 'connect' | 'processing' | 'waiting' | 'total';

/** Everything a report says. A line that ab left out is undefined; times are in milliseconds. */
export interface AbReport {
  readonly serverSoftware: string;
  readonly hostname: string;
  readonly port: number;
  readonly documentPath: string;
  readonly documentLengthBytes: number | 'Variable';
  readonly concurrency: number;
  readonly timeTakenS: number;
  readonly completeRequests: number;
  readonly failedRequests: number;
  readonly failedBy:
    | {
        readonly connect: number;
        readonly receive: number;
        readonly length: number;
        readonly exceptions: number;
      }
    | undefined;
  readonly writeErrors: number | undefined;
  readonly non2xxResponses: number | undefined;
  readonly keepAliveRequests: number | undefined;
  readonly totalTransferredBytes: number;
  readonly totalBodySentBytes: number | undefined;
  readonly htmlTransferredBytes: number;
  readonly requestsPerSecond: number | undefined;
  readonly timePerRequestMs: number | undefined;
  readonly timePerRequestAcrossMs: number | undefined;
  readonly transferRateKbytesPerS: number | undefined;
  readonly sentRateKbytesPerS: number | undefined;
  readonly totalRateKbytesPerS: number | undefined;
  readonly times: Readonly<Record<AbTimesName, AbTimesRow>> | undefined;
  /** Percentage to milliseconds, 50 to 100. */
  readonly percentiles: ReadonlyMap<number, number> | undefined;
  /** What each two-line warning is about, e.g. `the waiting time`. */
  readonly warnings: readonly string[];
}

export interface ShapeOptions {
  /** Warnings depend on the times that were measured, so two honest reports may differ in them. */
  readonly withWarnings?: boolean;
}

interface Block {
  readonly lines: readonly (LineTemplate | readonly [LineTemplate, 'optional'])[];
  /** What the block warns about, when it is a warning. */
  readonly warning?: string;
}

interface ReadLine {
  readonly shape: string;
  readonly warning: string | undefined;
  readonly values: ReadonlyMap<string, string>;
}

const line = (template: string): LineTemplate => new LineTemplate(template);
const labelled = (label: string, value: string): LineTemplate => line(label.padEnd(24) + value);
const optional = (label: string, value: string): readonly [LineTemplate, 'optional'] => [
  labelled(label, value),
  'optional',
];
const perhaps = (template: string): readonly [LineTemplate, 'optional'] => [line(template), 'optional'];
const row = (label: string, name: AbTimesName): LineTemplate =>
  line(
    `${label.padEnd(12)}{${name}.min:intw5} {${name}.mean:intw4} {${name}.sd:fixed1w5} ` +
      `{${name}.median:intw6} {${name}.max:intw7}`,
  );
const shortRow = (label: string, name: AbTimesName): LineTemplate =>
  line(`${label.padEnd(12)}{${name}.min:intw5} {${name}.mean:intw5}{${name}.max:intw5}`);

const heading: Block = {
  lines: [
    line('This is ApacheBench, Version 2.3 <{revision:text}>'),
    line('Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/'),
    line('Licensed to The Apache Software Foundation, http://www.apache.org/'),
    line(''),
  ],
};

// With progress on the line ends after "(be patient)"; an interrupted quiet run stops before "..done".
const starts: readonly Block[] = [
  { lines: [line('Benchmarking {target:text} (be patient).....done'), line(''), line('')] },
  { lines: [line('Benchmarking {target:text} (be patient)'), line(''), line('')] },
  { lines: [line('Benchmarking {target:text} (be patient)...'), line('')] },
];

const targetLines: Block = {
  lines: [
    labelled('Server Software:', '{serverSoftware:text}'),
    labelled('Server Hostname:', '{hostname:text}'),
    labelled('Server Port:', '{port:int}'),
    optional('SSL/TLS Protocol:', '{tlsProtocol:text}'),
    optional('Server Temp Key:', '{tlsTempKey:text}'),
    optional('TLS Server Name:', '{tlsServerName:text}'),
    line(''),
    labelled('Document Path:', '{documentPath:text}'),
  ],
};

const lengths: readonly Block[] = [
  { lines: [labelled('Document Length:', '{documentLength:int} bytes')] },
  { lines: [labelled('Document Length:', 'Variable')] },
];

const counts: Block = {
  lines: [
    line(''),
    labelled('Concurrency Level:', '{concurrency:int}'),
    labelled('Time taken for tests:', '{timeTaken:fixed3} seconds'),
    labelled('Complete requests:', '{complete:int}'),
    labelled('Failed requests:', '{failed:int}'),
    perhaps(
      '   (Connect: {byConnect:int}, Receive: {byReceive:int}, Length: {byLength:int}, Exceptions: {byException:int})',
    ),
    optional('Write errors:', '{writeErrors:int}'),
    optional('Non-2xx responses:', '{non2xx:int}'),
    optional('Keep-Alive requests:', '{keepAlive:int}'),
    labelled('Total transferred:', '{totalTransferred:int} bytes'),
    optional('Total body sent:', '{totalBodySent:int}'),
    labelled('HTML transferred:', '{htmlTransferred:int} bytes'),
    optional('Requests per second:', '{rate:fixed2} [#/sec] (mean)'),
    optional('Time per request:', '{timePerRequest:fixed3} [ms] (mean)'),
    optional('Time per request:', '{timeAcross:fixed3} [ms] (mean, across all concurrent requests)'),
    optional('Transfer rate:', '{transferRate:fixed2} [Kbytes/sec] received'),
    optional('', '{sentRate:fixed2} kb/s sent'),
    optional('', '{totalRate:fixed2} kb/s total'),
  ],
};

const times: Block = {
  lines: [
    line(''),
    line('Connection Times (ms)'),
    line(`${' '.repeat(14)}min  mean[+/-sd] median   max`),
    row('Connect:', 'connect'),
    row('Processing:', 'processing'),
    row('Waiting:', 'waiting'),
    row('Total:', 'total'),
  ],
};

const shortTimes: Block = {
  lines: [
    line(''),
    line('Connection Times (ms)'),
    line(`${' '.repeat(14)}min   avg   max`),
    shortRow('Connect:', 'connect'),
    shortRow('Processing:', 'processing'),
    shortRow('Waiting:', 'waiting'),
    shortRow('Total:', 'total'),
  ],
};

const measured = ['the initial connection time', 'the processing time', 'the waiting time', 'the total time'];

// At most one warning for each row of the table, in the table's order.
const warnings: readonly (readonly Block[])[] = measured.map((what) => [
  {
    warning: what,
    lines: [
      line(`ERROR: The median and mean for ${what} are more than twice the standard`),
      line(`${' '.repeat(7)}deviation apart. These results are NOT reliable.`),
    ],
  },
  {
    warning: what,
    lines: [
      line(`WARNING: The median and mean for ${what} are not within a normal deviation`),
      line(`${' '.repeat(8)}These results are probably not that reliable.`),
    ],
  },
]);

const percentiles: Block = {
  lines: [
    line(''),
    line('Percentage of the requests served within a certain time (ms)'),
    ...[50, 66, 75, 80, 90, 95, 98, 99].map((percent) => line(`  ${percent}%  {p${percent}:intw5}`)),
    line(' 100%  {p100:intw5} (longest request)'),
  ],
};

/** Reads lines one after another; remembers how far any attempt got, for the message. */
class ReportReader {
  readonly read: ReadLine[] = [];
  readonly #lines: readonly string[];
  #next = 0;
  #furthest = 0;
  #expected = '';

  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('ab report: does not end with a newline');
    this.#lines = text.slice(0, -1).split('\n');
  }

  /** Takes a whole block or nothing. */
  take(block: Block): boolean {
    const start = this.#next;
    const count = this.read.length;
    for (const entry of block.lines) {
      const template = entry instanceof LineTemplate ? entry : entry[0];
      const isOptional = !(entry instanceof LineTemplate);
      if (this.#takeLine(template, block.warning) || isOptional) continue;
      this.#next = start;
      this.read.length = count;
      return false;
    }
    return true;
  }

  takeOneOf(blocks: readonly Block[]): void {
    if (!blocks.some((block) => this.take(block))) this.fail();
  }

  end(): void {
    if (this.#next < this.#lines.length) this.fail();
  }

  fail(): never {
    const found = this.#lines[this.#furthest];
    const saw = found === undefined ? 'the end' : JSON.stringify(found);
    throw new Error(
      `ab report, line ${this.#furthest + 1}: ${saw} where ${JSON.stringify(this.#expected)} fits`,
    );
  }

  #takeLine(template: LineTemplate, warning: string | undefined): boolean {
    const text = this.#lines[this.#next];
    const values = text === undefined ? undefined : template.match(text);
    if (values === undefined) {
      if (this.#next >= this.#furthest) {
        this.#furthest = this.#next;
        this.#expected = template.shape;
      }
      return false;
    }
    this.read.push({ shape: template.shape, warning, values });
    this.#next += 1;
    return true;
  }
}

/** The report ab printed on stdout, every line checked. Throws on the first line that ab would not print. */
export function parseAbReport(text: string): AbReport {
  return toReport(readReport(text));
}

/**
 * One line per line of the report, values replaced by `{int}`, `{fixed3}`, `{intw5}` and the like. Reports of
 * the same shape have the same labels, columns and units in the same order.
 */
export function shapeOf(text: string, options: ShapeOptions = {}): string[] {
  const kept = readReport(text).filter((part) => options.withWarnings === true || part.warning === undefined);
  return kept.map((part) => part.shape);
}

function readReport(text: string): readonly ReadLine[] {
  const reader = new ReportReader(text);
  reader.takeOneOf([heading]);
  reader.takeOneOf(starts);
  reader.takeOneOf([targetLines]);
  reader.takeOneOf(lengths);
  reader.takeOneOf([counts]);
  if (reader.take(times)) {
    for (const kinds of warnings) kinds.some((block) => reader.take(block));
  } else {
    reader.take(shortTimes);
  }
  reader.take(percentiles);
  reader.end();
  return reader.read;
}

function toReport(read: readonly ReadLine[]): AbReport {
  const values = new Map(read.flatMap((part) => [...part.values]));
  const text = (name: string): string => values.get(name) ?? '';
  const count = (name: string): number => Number(values.get(name));
  const some = (name: string): number | undefined =>
    values.has(name) ? Number(values.get(name)) : undefined;
  return {
    serverSoftware: text('serverSoftware'),
    hostname: text('hostname'),
    port: count('port'),
    documentPath: text('documentPath'),
    documentLengthBytes: some('documentLength') ?? 'Variable',
    concurrency: count('concurrency'),
    timeTakenS: count('timeTaken'),
    completeRequests: count('complete'),
    failedRequests: count('failed'),
    failedBy: values.has('byConnect')
      ? {
          connect: count('byConnect'),
          receive: count('byReceive'),
          length: count('byLength'),
          exceptions: count('byException'),
        }
      : undefined,
    writeErrors: some('writeErrors'),
    non2xxResponses: some('non2xx'),
    keepAliveRequests: some('keepAlive'),
    totalTransferredBytes: count('totalTransferred'),
    totalBodySentBytes: some('totalBodySent'),
    htmlTransferredBytes: count('htmlTransferred'),
    requestsPerSecond: some('rate'),
    timePerRequestMs: some('timePerRequest'),
    timePerRequestAcrossMs: some('timeAcross'),
    transferRateKbytesPerS: some('transferRate'),
    sentRateKbytesPerS: some('sentRate'),
    totalRateKbytesPerS: some('totalRate'),
    times: toTimes(values),
    percentiles: toPercentiles(values),
    warnings: [...new Set(read.flatMap((part) => part.warning ?? []))],
  };
}

function toTimes(values: ReadonlyMap<string, string>): AbReport['times'] {
  if (!values.has('connect.min')) return undefined;
  const optionalNumber = (name: string): number | undefined =>
    values.has(name) ? Number(values.get(name)) : undefined;
  const rowOf = (name: AbTimesName): AbTimesRow => ({
    min: Number(values.get(`${name}.min`)),
    mean: Number(values.get(`${name}.mean`)),
    sd: optionalNumber(`${name}.sd`),
    median: optionalNumber(`${name}.median`),
    max: Number(values.get(`${name}.max`)),
  });
  return {
    connect: rowOf('connect'),
    processing: rowOf('processing'),
    waiting: rowOf('waiting'),
    total: rowOf('total'),
  };
}

function toPercentiles(values: ReadonlyMap<string, string>): ReadonlyMap<number, number> | undefined {
  const found = new Map<number, number>();
  for (const [name, value] of values) {
    const percent = /^p(\d+)$/.exec(name)?.[1];
    if (percent !== undefined) found.set(Number(percent), Number(value));
  }
  return found.size === 0 ? undefined : found;
}

import {
  AB_COUNTINGS,
  type AbCounting,
  type AbHtmlAttributes,
  nearestOf,
  parseProxy,
  parseTarget,
  TLS_VERSIONS,
  type TlsVersion,
} from '@broadside/shared';
import { isTransportWish, TRANSPORT_NAMES, type TransportWish } from '../transport-flag.js';
import { type AbArgument, type AbGrammar, atoi, scanAbArguments } from './ab-arguments.js';

/** Exit codes of `ab` itself for mistakes on the command line. */
export const AB_EXIT = { valueError: 1, usage: 22 } as const;

/** What the command line of `broadside ab` asks for. */
export interface AbOptions {
  /** Absent: as many as the time allows. */
  requests: number | undefined;
  concurrency: number;
  timeLimitS: number | undefined;
  timeoutS: number;
  method: string;
  bodyFile: string | undefined;
  contentType: string;
  keepAlive: boolean;
  cookies: string[];
  /** Complete Authorization lines in order. */
  authorizationLines: string[];
  headerLines: string[];
  acceptVariableLength: boolean;
  continueOnSocketError: boolean;
  quiet: boolean;
  omitPercentiles: boolean;
  shortTimes: boolean;
  verbosity: number;
  url: string;
  /** `host[:port]` as typed. */
  proxy: string | undefined;
  /** `name:password` for a tunnel; the header line is in `authorizationLines` too. */
  proxyCredentials: string | undefined;
  sendsServerName: boolean;
  /** The only version to speak; absent: all. */
  tlsVersion: TlsVersion | undefined;
  ciphers: string | undefined;
  /** Certificate chain and key in one PEM file. */
  certificateFile: string | undefined;
  /** Local addresses, with commas between them. */
  bind: string | undefined;
  socketBufferBytes: number | undefined;
  csvFile: string | undefined;
  /** Of -g. */
  samplesFile: string | undefined;
  /** Present with -w and with -x, -y, -z. */
  html: AbHtmlAttributes | undefined;
  /** Ours. */
  coordinatorUrl: string | undefined;
  token: string | undefined;
  tokenFile: string | undefined;
  caFile: string | undefined;
  slots: string | undefined;
  transport: TransportWish | undefined;
  jsonFile: string | undefined;
  counting: AbCounting;
  /** What was understood differently from what the words say, for stderr. */
  notes: string[];
}

export type AbCommandLine =
  | { readonly kind: 'run'; readonly options: AbOptions }
  | { readonly kind: 'version'; readonly isHtml: boolean }
  | { readonly kind: 'help' }
  /** A mistake: its lines for stderr, and `ab`'s exit code. */
  | { readonly kind: 'mistake'; readonly text: string; readonly exitCode: number };

export const GRAMMAR: AbGrammar = {
  letters: 'n:c:t:s:b:T:p:u:v:lrkVhwiIx:y:z:C:H:P:A:g:X:de:SqB:m:Z:f:E:',
  longWithValue: [
    'agents-at',
    'coordinator',
    'token',
    'token-file',
    'coordinator-ca',
    'slots',
    'transport',
    'json',
    'ab-counting',
  ],
  longAlone: ['help', 'version'],
};

const DEFAULT_TIMEOUT_S = 30;
/** Attribute of the cells of ab's HTML report unless -z says otherwise. */
const DEFAULT_CELL = 'bgcolor=white';
const MAX_CONCURRENCY = 200_000;
/** `ab` encodes credentials into 1024 bytes and refuses what does not fit. */
const MAX_ENCODED_CREDENTIALS = 1_023;

/** Thrown inside this file only, to leave the option loop at the first mistake, as `ab` does. */
class Mistake extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

function usageMistake(reason: string): Mistake {
  return new Mistake(`ab: ${reason}`, AB_EXIT.usage);
}

/** Reads a command line of `ab`, left to right, into options, or into the first thing that is wrong with it. */
export function parseAbCommandLine(words: readonly string[]): AbCommandLine {
  const parsing: Parsing = { options: defaults(), methodKind: 'GET', requestsBeforeTime: false };
  try {
    for (const item of scanAbArguments(words, GRAMMAR)) {
      const early = applyArgument(parsing, item);
      if (early !== undefined) return early;
    }
    finish(parsing.options);
    return { kind: 'run', options: parsing.options };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    return { kind: 'mistake', text: error.message, exitCode: error.exitCode };
  }
}

interface Parsing {
  readonly options: AbOptions;
  methodKind: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'custom';
  requestsBeforeTime: boolean;
}

function defaults(): AbOptions {
  return {
    requests: undefined,
    concurrency: 1,
    timeLimitS: undefined,
    timeoutS: DEFAULT_TIMEOUT_S,
    method: 'GET',
    bodyFile: undefined,
    contentType: 'text/plain',
    keepAlive: false,
    cookies: [],
    authorizationLines: [],
    headerLines: [],
    acceptVariableLength: false,
    continueOnSocketError: false,
    quiet: false,
    omitPercentiles: false,
    shortTimes: false,
    verbosity: 0,
    url: '',
    proxy: undefined,
    proxyCredentials: undefined,
    sendsServerName: true,
    tlsVersion: undefined,
    ciphers: undefined,
    certificateFile: undefined,
    bind: undefined,
    socketBufferBytes: undefined,
    csvFile: undefined,
    samplesFile: undefined,
    html: undefined,
    coordinatorUrl: undefined,
    token: undefined,
    tokenFile: undefined,
    caFile: undefined,
    slots: undefined,
    transport: undefined,
    jsonFile: undefined,
    counting: 'once',
    notes: [],
  };
}

function applyArgument(parsing: Parsing, item: AbArgument): AbCommandLine | undefined {
  switch (item.kind) {
    case 'illegal':
      throw usageMistake(`illegal option -- ${item.letter}`);
    case 'missing':
      throw usageMistake(`option requires an argument -- ${item.option}`);
    case 'unknownLong': {
      const near = nearestOf(item.name, [...GRAMMAR.longWithValue, ...GRAMMAR.longAlone]);
      throw usageMistake(
        `illegal option --${item.name}${near === undefined ? '' : `; did you mean --${near}?`}`,
      );
    }
    case 'rest':
      if (item.values.length !== 1) throw usageMistake('wrong number of arguments');
      parsing.options.url = item.values[0] ?? '';
      return undefined;
    case 'long':
      return applyLong(parsing.options, item.name, item.value);
    case 'short':
      if (item.letter === 'V') return { kind: 'version', isHtml: parsing.options.html !== undefined };
      if (item.letter === 'h') return { kind: 'mistake', text: '', exitCode: AB_EXIT.usage };
      applyShort(parsing, item.letter, item.value);
      return undefined;
  }
}

function applyLong(options: AbOptions, name: string, value: string): AbCommandLine | undefined {
  if (name === 'help') return { kind: 'help' };
  if (name === 'version') return { kind: 'version', isHtml: false };
  if (value === '') throw usageMistake(`option requires an argument -- -${name}`);
  if (name === 'agents-at' || name === 'coordinator') options.coordinatorUrl = value;
  else if (name === 'token') options.token = value;
  else if (name === 'token-file') options.tokenFile = value;
  else if (name === 'coordinator-ca') options.caFile = value;
  else if (name === 'slots') options.slots = value;
  else if (name === 'transport') options.transport = transportOf(value);
  else if (name === 'ab-counting') options.counting = countingOf(value);
  else options.jsonFile = value;
  return undefined;
}

function transportOf(value: string): TransportWish {
  if (isTransportWish(value)) return value;
  throw usageMistake(`invalid --transport ${value}: give ${TRANSPORT_NAMES.join(', ')}`);
}

function countingOf(value: string): AbCounting {
  const counting = AB_COUNTINGS.find((one) => one === value);
  if (counting !== undefined) return counting;
  throw usageMistake(`invalid --ab-counting ${value}: give ${AB_COUNTINGS.join(', ')}`);
}

function applyShort(parsing: Parsing, letter: string, value: string): void {
  const { options } = parsing;
  if (applyFlag(options, letter) || applyConnection(options, letter, value)) return;
  switch (letter) {
    case 'n':
      options.requests = atoi(value);
      if (options.requests <= 0) throw new Mistake('Invalid number of requests\n', AB_EXIT.valueError);
      parsing.requestsBeforeTime = options.timeLimitS === undefined;
      break;
    case 'c':
      options.concurrency = atoi(value);
      break;
    case 't':
      options.timeLimitS = timeLimitOf(value);
      break;
    case 's':
      options.timeoutS = atoi(value);
      if (options.timeoutS <= 0)
        throw usageMistake(`invalid timeout -s ${value}: give whole seconds, at least 1`);
      break;
    case 'v':
      options.verbosity = atoi(value);
      break;
    case 'T':
      options.contentType = value;
      break;
    case 'C':
      options.cookies.push(value);
      break;
    case 'H':
      options.headerLines.push(value);
      break;
    case 'P':
      options.proxyCredentials = value.replace(/^[ \t]+/, '');
      options.authorizationLines.push(`Proxy-Authorization: Basic ${encodedCredentials(value)}`);
      break;
    case 'e':
      options.csvFile = value;
      break;
    case 'g':
      options.samplesFile = value;
      break;
    case 'A':
      options.authorizationLines.push(`Authorization: Basic ${encodedCredentials(value)}`);
      break;
    default:
      applyMethod(parsing, letter, value);
  }
  if (letter === 't' && parsing.requestsBeforeTime) {
    options.notes.push(
      'with -n and -t the run ends with whichever comes first (ab would ignore an earlier -n)',
    );
  }
}

function applyFlag(options: AbOptions, letter: string): boolean {
  if (letter === 'k') options.keepAlive = true;
  else if (letter === 'l') options.acceptVariableLength = true;
  else if (letter === 'r') options.continueOnSocketError = true;
  else if (letter === 'q') options.quiet = true;
  else if (letter === 'd') options.omitPercentiles = true;
  else if (letter === 'S') options.shortTimes = true;
  else if (letter === 'w') options.html ??= { table: '', row: '', cell: DEFAULT_CELL };
  else if (letter === 'I') options.sendsServerName = false;
  else return false;
  return true;
}

/** What connections go through, and attributes of the HTML report, each of which asks for it. */
function applyConnection(options: AbOptions, letter: string, value: string): boolean {
  const html = options.html ?? { table: '', row: '', cell: DEFAULT_CELL };
  if (letter === 'x') options.html = { ...html, table: value };
  else if (letter === 'y') options.html = { ...html, row: value };
  else if (letter === 'z') options.html = { ...html, cell: value };
  else if (letter === 'B') options.bind = value;
  else if (letter === 'Z') options.ciphers = value;
  else if (letter === 'E') options.certificateFile = value;
  else if (letter === 'X') options.proxy = proxyOf(value);
  else if (letter === 'f') options.tlsVersion = tlsVersionOf(value);
  else if (letter === 'b') {
    const sizeBytes = atoi(value);
    if (sizeBytes < 0) throw usageMistake(`invalid buffer size -b ${value}: give bytes`);
    options.socketBufferBytes = sizeBytes === 0 ? undefined : sizeBytes;
  } else return false;
  return true;
}

function proxyOf(value: string): string {
  const proxy = parseProxy(value);
  if (typeof proxy === 'string') throw usageMistake(`invalid proxy -X ${value}: ${proxy}`);
  return value;
}

/** The word's beginning counts, in any case, and a word that is not known means all, as in `ab`. */
function tlsVersionOf(word: string): TlsVersion | undefined {
  const upper = word.toUpperCase();
  if (upper.startsWith('SSL3')) {
    throw usageMistake('-f SSL3: SSL 3 is not supported by any TLS library of today');
  }
  if (/^TLS1\.[123]/.test(upper)) {
    return TLS_VERSIONS.find((version) => version === `TLSv${upper.slice(3, 6)}`);
  }
  return upper.startsWith('TLS1') ? 'TLSv1' : undefined;
}

/** -i, -p and -u exclude each other and a -m before them; a -m after them changes only the method's name. */
function applyMethod(parsing: Parsing, letter: string, value: string): void {
  const { options } = parsing;
  if (letter === 'm') {
    parsing.methodKind = 'custom';
    options.method = value;
    return;
  }
  const kind = letter === 'i' ? 'HEAD' : letter === 'p' ? 'POST' : 'PUT';
  if (parsing.methodKind !== 'GET') {
    throw new Mistake(`Cannot mix ${kind} with other methods\n`, AB_EXIT.valueError);
  }
  parsing.methodKind = kind;
  options.method = kind;
  if (letter !== 'i') options.bodyFile = value;
}

function timeLimitOf(value: string): number | undefined {
  const seconds = atoi(value);
  if (seconds < 0) throw usageMistake(`invalid time limit -t ${value}: give whole seconds`);
  return seconds === 0 ? undefined : seconds;
}

function encodedCredentials(value: string): string {
  const encoded = Buffer.from(value.replace(/^[ \t]+/, ''), 'utf8').toString('base64');
  if (encoded.length > MAX_ENCODED_CREDENTIALS) {
    throw new Mistake('Authentication credentials too long\n', AB_EXIT.valueError);
  }
  return encoded;
}

/** What `ab` checks after its option loop, and defaults that depend on several options. */
function finish(options: AbOptions): void {
  if (options.requests === undefined && options.timeLimitS === undefined) options.requests = 1;
  checkUrl(options.url);
  if (options.concurrency < 0 || options.concurrency > MAX_CONCURRENCY) {
    throw usageMistake(`Invalid Concurrency [Range 0..${MAX_CONCURRENCY}]`);
  }
  if (options.concurrency === 0) {
    options.concurrency = 1;
    options.notes.push('-c 0 is taken as -c 1');
  }
  if (options.requests !== undefined && options.concurrency > options.requests) {
    throw usageMistake('Cannot use concurrency level greater than total number of requests');
  }
}

function checkUrl(url: string): void {
  const target = parseTarget(url);
  if (typeof target === 'string') throw usageMistake(`invalid URL: ${target}`);
  // Unlike a browser, `ab` wants the slash after the host, and scripts rely on its refusal.
  if (!/^[^/?#]+\//.test(url.replace(/^https?:\/\//, ''))) {
    throw usageMistake('invalid URL: it needs a path, write a slash after the host');
  }
}

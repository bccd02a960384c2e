import {
  EXIT,
  LIMITS,
  type NameOfField,
  numberOrText,
  type Plan,
  parseLabels,
  parsePlan,
} from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { type ReadFlags, readFlags } from '../flags.js';
import { type TransportWish, transportFlag } from '../transport-flag.js';
import {
  CONNECTION_FLAGS,
  connectionPlanFields,
  cookieLines,
  FLAGS_OF_CONNECTION_FIELD,
} from './connection-flags.js';
import { FLAGS_OF_LOAD_FIELD, LOAD_FLAGS, loadPlanFields } from './load-flags.js';
import { describePlanProblems, type PlanFile, readPlanFile } from './plan-file.js';
import { readNamedFile } from './read-file.js';

/** What `broadside run` was asked for, apart from the plan. */
export interface RunRequest {
  readonly plan: Plan;
  readonly jsonFile: string | undefined;
  readonly coordinatorUrl: string | undefined;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly caFile: string | undefined;
  readonly transport: TransportWish | undefined;
  readonly quiet: boolean;
}

export const FLAGS = {
  requests: { type: 'string', short: 'n' },
  duration: { type: 'string', short: 'd' },
  connections: { type: 'string', short: 'c' },
  method: { type: 'string' },
  header: { type: 'string', short: 'H', multiple: true },
  body: { type: 'string' },
  'body-file': { type: 'string' },
  timeout: { type: 'string' },
  'http-version': { type: 'string' },
  'no-keep-alive': { type: 'boolean' },
  ...CONNECTION_FLAGS,
  ...LOAD_FLAGS,
  slots: { type: 'string' },
  weights: { type: 'string' },
  on: { type: 'string', multiple: true },
  'max-wait': { type: 'string' },
  'on-agent-loss': { type: 'string' },
  name: { type: 'string' },
  json: { type: 'string' },
  coordinator: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  'coordinator-ca': { type: 'string' },
  transport: { type: 'string' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const;

type RunValues = ReadFlags<typeof FLAGS>['values'];

/**
 * Reads flags and plan file into one checked plan; flags win over the file.
 * @returns the request, or `help`.
 * @throws CliError with EXIT.usage or EXIT.file.
 */
export async function readRunRequest(words: readonly string[]): Promise<RunRequest | 'help'> {
  const { values, positionals } = readFlags('run', words, FLAGS);
  if (values.help === true) return 'help';
  const [what, ...more] = positionals;
  if (what === undefined || more.length > 0) {
    const given = what === undefined ? '' : `, not ${positionals.length}`;
    throw new CliError(EXIT.usage, `run: give one URL or one plan file${given}; see \`broadside help run\``);
  }
  const transport = transportFlag(values.transport);
  const file = isPlanFileName(what) ? await readPlanFile(what) : undefined;
  const fields = { ...(file?.value ?? { target: what }), ...(await planFields(values, file)) };
  const parsed = parsePlan(fields, nameOfField(values, file));
  if (!parsed.ok) throw new CliError(EXIT.usage, describePlanProblems(parsed.problems, file));
  return {
    plan: parsed.plan,
    jsonFile: values.json,
    coordinatorUrl: values.coordinator,
    token: values.token,
    tokenFile: values['token-file'],
    caFile: values['coordinator-ca'],
    transport,
    quiet: values.quiet ?? false,
  };
}

/** A plan file is told from a URL by its name, so that a mistyped name is not taken for a host. */
function isPlanFileName(what: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(what) && /\.(ya?ml|json)$/i.test(what);
}

/** The fields of the plan that flags give. */
async function planFields(values: RunValues, file: PlanFile | undefined): Promise<Record<string, unknown>> {
  if (values.body !== undefined && values['body-file'] !== undefined) {
    throw new CliError(EXIT.usage, 'give --body or --body-file, not both');
  }
  const fields: Record<string, unknown> = {};
  if (values.requests !== undefined) fields['requests'] = numberOrText(values.requests);
  if (values.connections !== undefined) fields['connections'] = numberOrText(values.connections);
  if (values.slots !== undefined) fields['slots'] = numberOrText(values.slots);
  if (values.weights !== undefined) fields['weights'] = values.weights;
  if (values.on !== undefined) fields['on'] = labelsOf(values.on);
  if (values['max-wait'] !== undefined) override(fields, 'maxWait', 'maxWaitMs', values['max-wait']);
  if (values.duration !== undefined) override(fields, 'duration', 'durationMs', values.duration);
  if (values.timeout !== undefined) override(fields, 'timeout', 'timeoutMs', values.timeout);
  if (values.method !== undefined) fields['method'] = values.method;
  if (values['on-agent-loss'] !== undefined) fields['onAgentLoss'] = values['on-agent-loss'];
  if (values.name !== undefined) fields['name'] = values.name;
  if (values['http-version'] !== undefined) fields['httpVersion'] = values['http-version'];
  if (values['no-keep-alive'] === true) fields['keepAlive'] = false;
  const headers = [...cookieLines(values), ...(values.header ?? [])];
  if (headers.length > 0) fields['headers'] = [...headersOf(file), ...headers];
  Object.assign(fields, await connectionPlanFields(values, file), loadPlanFields(values));
  if (values.body !== undefined) override(fields, 'body', 'bodyBase64', values.body);
  if (values['body-file'] !== undefined) {
    const bytes = await readNamedFile('body file', values['body-file'], LIMITS.maxRequestBodyBytes);
    override(fields, 'bodyBase64', 'body', bytes.toString('base64'));
  }
  if (values.body === undefined && fields['bodyBase64'] === '') fields['bodyBase64'] = undefined;
  return fields;
}

/** @throws CliError with EXIT.usage. */
function labelsOf(texts: readonly string[]): Record<string, string> {
  const labels = parseLabels(texts);
  if (typeof labels === 'string') throw new CliError(EXIT.usage, `--on ${labels}`);
  return labels;
}

/** Sets one of two spellings and takes the other one of the file away, or both would be given. */
function override(fields: Record<string, unknown>, name: string, otherName: string, value: string): void {
  fields[name] = value;
  fields[otherName] = undefined;
}

/** Headers of the file that a flag adds to; anything that is not a list or a map is left to the schema. */
function headersOf(file: PlanFile | undefined): unknown[] {
  const headers = file?.value['headers'];
  if (Array.isArray(headers)) return headers;
  if (typeof headers !== 'object' || headers === null) return [];
  return Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
}

/** Field of the plan to the flags that give it. */
const FLAGS_OF_FIELD: Readonly<Record<string, readonly (keyof RunValues)[]>> = {
  requests: ['requests'],
  connections: ['connections'],
  slots: ['slots'],
  weights: ['weights'],
  on: ['on'],
  maxWait: ['max-wait'],
  maxWaitMs: ['max-wait'],
  onAgentLoss: ['on-agent-loss'],
  duration: ['duration'],
  durationMs: ['duration'],
  timeout: ['timeout'],
  timeoutMs: ['timeout'],
  method: ['method'],
  httpVersion: ['http-version'],
  keepAlive: ['no-keep-alive'],
  headers: ['header', 'cookie'],
  name: ['name'],
  bodyBase64: ['body-file'],
  body: ['body'],
  ...FLAGS_OF_CONNECTION_FIELD,
  ...FLAGS_OF_LOAD_FIELD,
};

/**
 * What whoever wrote the plan calls a field: the flag where one gave it, or where there is no file that could have
 * given it.
 */
function nameOfField(values: RunValues, file: PlanFile | undefined): NameOfField {
  return (path) => {
    if (path === 'target' && file === undefined) return 'URL';
    const flags = FLAGS_OF_FIELD[path] ?? FLAGS_OF_FIELD[path.split('.')[0] ?? ''] ?? [];
    const given = flags.find((flag) => values[flag] !== undefined);
    const flag = given ?? (file === undefined ? flags[0] : undefined);
    return flag === undefined ? path : `--${flag}`;
  };
}

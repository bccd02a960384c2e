import { availableParallelism } from 'node:os';
import type { Examination } from '@broadside/agent';
import {
  BROADSIDE_VERSION,
  EXIT,
  formatCounted,
  LIMITS,
  numberOrText,
  type Plan,
  parsePlan,
  type Shard,
  splitPlan,
} from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { type ReadFlags, readFlags, wholeNumberFlag } from '../flags.js';
import { help } from '../help/doctor.help.js';
import { doctorText } from '../output/doctor-text.js';
import { columnsOf, writeOut } from '../output/streams.js';
import { describePlanProblems } from '../run/plan-file.js';

export const FLAGS = {
  connections: { type: 'string', short: 'c' },
  requests: { type: 'string', short: 'n' },
  duration: { type: 'string', short: 'd' },
  rate: { type: 'string' },
  'no-keep-alive': { type: 'boolean' },
  slots: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type DoctorValues = ReadFlags<typeof FLAGS>['values'];

/** `broadside doctor`: looks at this machine, and at nothing else. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('doctor', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  const [url, ...more] = positionals;
  if (more.length > 0) {
    throw new CliError(EXIT.usage, `doctor: give one URL, not ${positionals.length}`);
  }
  const slots = wholeNumberFlag('--slots', values.slots, { least: 1, most: LIMITS.maxShards });
  const plan = url === undefined ? withoutPlan(values) : planOf(url, values);
  const { examineMachine } = await import('@broadside/agent');
  const shards = plan === undefined ? [] : shardsOf(plan, slots ?? availableParallelism());
  const examination = await examineMachine(shards);
  await writeOut(
    values.json === true
      ? `${JSON.stringify(jsonOf(examination, plan, shards.length), null, 2)}\n`
      : doctorText(
          examination,
          columnsOf(process.stdout),
          plan === undefined ? undefined : subjectOf(plan, shards.length),
        ),
  );
  return examination.findings.refusals.length > 0 ? EXIT.cannotWork : EXIT.ok;
}

/** The flags of a load mean nothing without a target: ports are counted for one. */
function withoutPlan(values: DoctorValues): undefined {
  const { connections, requests, duration, rate, slots } = values;
  const given = Object.entries({ connections, requests, duration, rate, slots });
  const named = given.find(([, value]) => value !== undefined)?.[0];
  const flag = named ?? (values['no-keep-alive'] === true ? 'no-keep-alive' : undefined);
  if (flag !== undefined) throw new CliError(EXIT.usage, `doctor: --${flag} needs the URL of a target`);
  return undefined;
}

function planOf(url: string, values: DoctorValues): Plan {
  const { connections, requests, duration, rate } = values;
  const fields = {
    target: url,
    ...(connections === undefined ? {} : { connections: numberOrText(connections) }),
    ...(requests === undefined ? {} : { requests: numberOrText(requests) }),
    ...(duration === undefined ? {} : { duration }),
    ...(rate === undefined ? {} : { rate: numberOrText(rate) }),
    ...(values['no-keep-alive'] === true ? { keepAlive: false } : {}),
  };
  const parsed = parsePlan(fields, (path) => (path === 'target' ? 'URL' : `--${path}`));
  if (parsed.ok) return parsed.plan;
  throw new CliError(EXIT.usage, `doctor: ${describePlanProblems(parsed.problems)}`);
}

/** What this machine alone would get of the plan. */
function shardsOf(plan: Plan, slots: number): Shard[] {
  return splitPlan(plan, 'doctor', Math.min(slots, plan.connections));
}

function subjectOf(plan: Plan, slots: number): string {
  const kind = plan.keepAlive ? '' : ', a new one for each request';
  const places = formatCounted(slots, 'slot');
  return `${formatCounted(plan.connections, 'connection')}${kind} to ${plan.target}, from ${places}`;
}

function jsonOf(examination: Examination, plan: Plan | undefined, slots: number): object {
  const { machine, findings, transport, addresses } = examination;
  return {
    broadsideVersion: BROADSIDE_VERSION,
    canWork: findings.refusals.length === 0,
    ...findings,
    ...(plan === undefined ? {} : { plan, slots, addresses }),
    transport,
    machine,
  };
}

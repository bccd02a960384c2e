import { isDeepStrictEqual } from 'node:util';
import { parsePlan, splitPlan } from '@broadside/shared';
import { CliError } from '../../apps/cli/dist/cli-error.js';
import { describePlanProblems, type PlanFile, parsePlanText } from '../../apps/cli/dist/run/plan-file.js';
import { type Chance, type FuzzHarness, mutate } from './fuzz-harness.js';

const TEXTS = [
  'target: http://127.0.0.1:8080/\nduration: 30s\nconnections: 50\nheaders:\n  Accept: application/json\ntimeout: 5s\n',
  '{"target": "http://h/a?b=c", "requests": 1000, "rate": 20.5, "arrivals": "poisson", "seed": 7, "slots": 4}\n',
  'target: https://[::1]:8443/x\ntls: {verify: false, minVersion: TLSv1.2}\nbody: "a=1"\nmethod: POST\n',
  'target: http://h/\nrate: 10\nwarmup: 2s\nstages:\n  - {duration: 10s, rate: 100}\n  - duration: 1m\n    rate: 0\n',
  'target: http://h/\nstages: [{duration: 5s, connections: 10}]\nunixSocket: /tmp/s\nname: "x: y"\n',
  'target: &a http://h/\nname: *a\n__proto__: {polluted: true}\nconstructor: 1\n? [1, 2]\n: 3\n',
  'target: http://h/\nproxy: http://p:3128\nproxyUser: "u:p"\nbind: 127.0.0.1, 127.0.0.2\nheaders: ["A: b"]\n---\n',
  'target: !!binary aGk=\nrequests: 0x10\nconnections: 1e3\ntimeout: .inf\nkeepAlive: no\nbody: |\n  a\n  b\n',
];
const MAX_BYTES = 1_024;
/** Shards that an accepted plan is cut into. */
const SHARDS = 3;

/**
 * Whatever the text, reading it gives a plan, or problems in one line each. A plan reads as itself, and its shares
 * add up to the whole.
 */
export function planHarness(read: (path: string, text: string) => PlanFile = parsePlanText): FuzzHarness {
  return {
    name: 'plan text',
    shortRounds: 4_000,
    longRounds: 150_000,
    begin: (chance) => {
      const samples = TEXTS.map((text) => Buffer.from(text));
      const bytes = new Uint8Array(MAX_BYTES);
      return () => {
        const text = mutatedText(samples, bytes, chance);
        const file = readOrRefused(read, text);
        if (file === undefined) return;
        if (({} as Record<string, unknown>)['polluted'] !== undefined)
          throw new Error('a plan changed all objects');
        const parsed = parsePlan(file.value);
        if (parsed.ok) expectSound(parsed.plan);
        else if (describePlanProblems(parsed.problems, file).includes('\n'))
          throw new Error(`not told in a line: ${JSON.stringify(text)}`);
      };
    },
  };
}

function mutatedText(samples: readonly Buffer[], bytes: Uint8Array, chance: Chance): string {
  const sample = chance.pick(samples);
  bytes.set(sample);
  return Buffer.from(bytes.subarray(0, mutate(bytes, sample.length, chance))).toString('utf8');
}

function readOrRefused(read: (path: string, text: string) => PlanFile, text: string): PlanFile | undefined {
  try {
    return read('plan.yaml', text);
  } catch (error) {
    if (!(error instanceof CliError))
      throw new Error(`not refused in a line: ${JSON.stringify(text)}`, { cause: error });
    if (error.message.includes('\n')) throw new Error(`more than one line: ${JSON.stringify(error.message)}`);
    return undefined;
  }
}

function expectSound(plan: Parameters<typeof splitPlan>[0]): void {
  const again = parsePlan(plan);
  if (!again.ok || !isDeepStrictEqual(again.plan, plan)) {
    throw new Error(`a plan that does not read as itself: ${JSON.stringify(plan)}`);
  }
  const count = Math.min(SHARDS, plan.connections, plan.requests ?? SHARDS);
  const shards = splitPlan(plan, 'fuzz', count);
  const connections = shards.reduce((sum, shard) => sum + shard.connections, 0);
  const requests = shards.reduce((sum, shard) => sum + (shard.requests ?? 0), 0);
  if (connections !== plan.connections || (plan.requests !== undefined && requests !== plan.requests)) {
    throw new Error(`shares of ${connections} connections, ${requests} requests: ${JSON.stringify(plan)}`);
  }
}

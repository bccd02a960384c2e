import type { AgentOptions } from '@broadside/agent';
import { EXIT, formatCounted, LIMITS, parseLabels } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { coordinatorAddress } from '../client/coordinator-client.js';
import { tokenOf } from '../client/coordinator-token.js';
import { trustedCertificates } from '../client/trusted-certificates.js';
import { readFlags, refuseWords } from '../flags.js';
import { help } from '../help/agent.help.js';
import { type LogFormat, logFormatOf } from '../output/log-format.js';
import { writeOut } from '../output/streams.js';
import { StopSignals } from '../run/stop-signals.js';
import { Settings } from '../settings.js';
import { TARGET_FLAGS, targetRules } from '../target-flags.js';
import { transportFlag } from '../transport-flag.js';

export const FLAGS = {
  join: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  ca: { type: 'string' },
  slots: { type: 'string' },
  name: { type: 'string' },
  label: { type: 'string', multiple: true },
  weight: { type: 'string' },
  redis: { type: 'string' },
  transport: { type: 'string' },
  'log-format': { type: 'string' },
  ...TARGET_FLAGS,
  help: { type: 'boolean', short: 'h' },
} as const;

/** Settings by the name of the agent's option, where it is one. */
const NAMES = {
  coordinatorUrl: { flag: 'join', variable: 'BROADSIDE_COORDINATOR' },
  joinToken: { flag: 'token', variable: 'BROADSIDE_JOIN_TOKEN' },
  slots: { flag: 'slots', variable: 'BROADSIDE_SLOTS' },
  name: { flag: 'name' },
  labels: { flag: 'label' },
  weight: { flag: 'weight' },
  redisUrl: { flag: 'redis', variable: 'BROADSIDE_REDIS_URL' },
  transport: { flag: 'transport', variable: 'BROADSIDE_TRANSPORT' },
  logFormat: { flag: 'log-format', variable: 'BROADSIDE_LOG_FORMAT' },
} as const;

/** `broadside agent`: runs until the coordinator refuses it or a signal drains it. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('agent', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('agent', positionals);
  const given = new Settings(values, NAMES);
  const join = given.text('coordinatorUrl');
  if (join === undefined) {
    throw new CliError(
      EXIT.usage,
      'agent: give the coordinator with --join http://host:port, or set BROADSIDE_COORDINATOR',
    );
  }
  // The address is what was typed first, so it is judged first.
  const { url } = coordinatorAddress(given.nameOf('coordinatorUrl'), join, undefined);
  const token = await tokenOf(
    { token: values.token, tokenFile: values['token-file'] },
    'BROADSIDE_JOIN_TOKEN',
  );
  if (token === undefined || token.text === '') {
    throw new CliError(EXIT.usage, 'agent: no join token; set BROADSIDE_JOIN_TOKEN or give --token-file');
  }
  const ca = await trustedCertificates('--ca', values.ca);
  const slots = given.wholeNumber('slots', { least: 1, most: LIMITS.maxShards });
  const transport = transportFlag(given.text('transport'), given.nameOf('transport'));
  const labels = parseLabels(values.label ?? []);
  if (typeof labels === 'string') throw new CliError(EXIT.usage, `--label ${labels}`);
  const targets = targetRules(values);
  const weight = weightOf(values.weight);
  const logFormat = logFormatOf(given.text('logFormat'), given.nameOf('logFormat'));
  const { capacityCacheFile } = await import('@broadside/agent');
  return await offerSlots(logFormat, {
    coordinatorUrl: url,
    joinToken: token.text,
    ...given.given(['name', 'redisUrl']),
    ...(ca === undefined ? {} : { trust: { ca } }),
    targets,
    ...(slots === undefined ? {} : { slots }),
    labels,
    ...(weight === undefined ? { capacityFile: capacityCacheFile(process.env) } : { weight }),
    ...(transport === undefined ? {} : { transport }),
    nameOf: (option) => (option === 'joinToken' ? token.name : given.nameOf(option)),
  });
}

async function offerSlots(logFormat: LogFormat, options: AgentOptions): Promise<number> {
  const [{ startAgent }, { openServerLog }] = await Promise.all([
    import('@broadside/agent'),
    import('../output/server-log.js'),
  ]);
  const { logger, note } = openServerLog(logFormat, 'warn');
  const signals = new StopSignals();
  const stopped = new Promise<undefined>((resolve) => signals.onFirst(() => resolve(undefined)));
  // Whoever is told to leave before it has joined has nothing to deliver, and waits for nobody.
  const agent = await Promise.race([startAgent({ ...options, logger }), stopped]);
  if (agent === undefined) return EXIT.ok;
  note(`agent ${agent.name} offers ${formatCounted(agent.slots, 'slot')} to ${options.coordinatorUrl}`);
  signals.onFirst(() => {
    note(
      'draining: no more shards are taken, the load stops, results go out; a second signal leaves at once',
    );
    // `closed` tells how the draining ended.
    void agent.drain();
  });
  const end = await agent.closed;
  signals.dispose();
  if (end.error !== undefined) throw end.error;
  note(drainedText(end.undelivered));
  // To be drained is the usual end of an agent, so it is a success.
  return EXIT.ok;
}

/** @throws CliError with EXIT.usage. */
function weightOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const weight = /^\d{1,4}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (weight >= LIMITS.minWeight && weight <= LIMITS.maxWeight) return weight;
  const range = `${LIMITS.minWeight} to ${LIMITS.maxWeight}`;
  throw new CliError(EXIT.usage, `--weight ${JSON.stringify(text)}: must be a number from ${range}`);
}

function drainedText(undelivered: number): string {
  if (undelivered === 0) return 'drained: everything that was measured has been delivered';
  const shards = formatCounted(undelivered, 'shard');
  return `left: ${shards} could not be delivered in time; the report will say what is missing`;
}

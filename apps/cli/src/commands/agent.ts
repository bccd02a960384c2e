import { EXIT, LIMITS, parseLabels } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { coordinatorAddress } from '../client/coordinator-client.js';
import { type TokenFlags, tokenOf } from '../client/coordinator-token.js';
import { trustedCertificates } from '../client/trusted-certificates.js';
import { fromEnvironment, readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/agent.help.js';
import { writeNote, writeOut } from '../output/streams.js';
import { StopSignals } from '../run/stop-signals.js';
import { TARGET_FLAGS, targetRules } from '../target-flags.js';
import { transportFlag } from '../transport-flag.js';

const FLAGS = {
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
  ...TARGET_FLAGS,
  help: { type: 'boolean', short: 'h' },
} as const;

/** `broadside agent`: runs until the coordinator refuses it or a signal drains it. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('agent', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('agent', positionals);
  const join = values.join ?? fromEnvironment('BROADSIDE_COORDINATOR');
  if (join === undefined)
    throw new CliError(EXIT.usage, 'agent: give the coordinator with --join http://host:port');
  // The address is what was typed first, so it is judged first.
  coordinatorAddress('--join', join, undefined);
  const token = await joinToken({ token: values.token, tokenFile: values['token-file'] });
  const { url } = coordinatorAddress('--join', join, token);
  const ca = await trustedCertificates(values.ca);
  const slots = wholeNumberFlag('--slots', values.slots ?? fromEnvironment('BROADSIDE_SLOTS'), {
    least: 1,
    most: LIMITS.maxShards,
  });
  const transport = transportFlag(values.transport ?? fromEnvironment('BROADSIDE_TRANSPORT'));
  const labels = parseLabels(values.label ?? []);
  if (typeof labels === 'string') throw new CliError(EXIT.usage, `--label ${labels}`);
  const targets = targetRules(values);
  const redisUrl = values.redis ?? fromEnvironment('BROADSIDE_REDIS_URL');
  const weight = weightOf(values.weight);
  const { capacityCacheFile, startAgent } = await import('@broadside/agent');
  const signals = new StopSignals();
  const agent = await startAgent({
    coordinatorUrl: url,
    joinToken: token,
    ...(ca === undefined ? {} : { trust: { ca } }),
    targets,
    ...(slots === undefined ? {} : { slots }),
    ...(values.name === undefined ? {} : { name: values.name }),
    labels,
    ...(weight === undefined ? { capacityFile: capacityCacheFile(process.env) } : { weight }),
    ...(redisUrl === undefined ? {} : { redisUrl }),
    ...(transport === undefined ? {} : { transport }),
  });
  writeNote(`agent ${agent.name} offers ${agent.slots} slots to ${url}`);
  signals.onFirst(() => {
    writeNote(
      'draining: no more shards are taken, the load stops, results go out; a second signal leaves at once',
    );
    // `closed` tells how the draining ended.
    void agent.drain();
  });
  const end = await agent.closed;
  signals.dispose();
  if (end.error !== undefined) throw end.error;
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

async function joinToken(flags: TokenFlags): Promise<string> {
  const token = await tokenOf(flags, 'BROADSIDE_JOIN_TOKEN');
  if (token === undefined || token === '') {
    throw new CliError(EXIT.usage, 'agent: no join token; set BROADSIDE_JOIN_TOKEN or give --token-file');
  }
  return token;
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXIT, LIMITS } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { closeWithin } from '../cluster/closing.js';
import { fromEnvironment, readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/serve.help.js';
import { writeNote, writeOut } from '../output/streams.js';
import { StopSignals } from '../run/stop-signals.js';
import { TARGET_FLAGS, targetRules } from '../target-flags.js';
import { type TransportWish, transportFlag } from '../transport-flag.js';

const FLAGS = {
  host: { type: 'string' },
  port: { type: 'string' },
  'data-dir': { type: 'string' },
  database: { type: 'string' },
  redis: { type: 'string' },
  'agent-redis': { type: 'string' },
  token: { type: 'string' },
  'admin-token-file': { type: 'string' },
  'join-token': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'trust-proxy': { type: 'string' },
  slots: { type: 'string' },
  transport: { type: 'string' },
  ...TARGET_FLAGS,
  'max-run-rate': { type: 'string' },
  'max-rate': { type: 'string' },
  'max-run-connections': { type: 'string' },
  'max-connections': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const DEFAULT_PORT = 7_070;

/** The variable of the environment that stands in for each flag. */
const VARIABLE_OF_FLAG = {
  host: 'BROADSIDE_HOST',
  port: 'BROADSIDE_PORT',
  'data-dir': 'BROADSIDE_DATA_DIR',
  database: 'BROADSIDE_DATABASE_URL',
  redis: 'BROADSIDE_REDIS_URL',
  'agent-redis': 'BROADSIDE_AGENT_REDIS_URL',
  token: 'BROADSIDE_TOKEN',
  'admin-token-file': 'BROADSIDE_ADMIN_TOKEN_FILE',
  'join-token': 'BROADSIDE_JOIN_TOKEN',
  'tls-cert': 'BROADSIDE_TLS_CERT',
  'tls-key': 'BROADSIDE_TLS_KEY',
  'trust-proxy': 'BROADSIDE_TRUST_PROXY',
  slots: 'BROADSIDE_SLOTS',
  transport: 'BROADSIDE_TRANSPORT',
  'max-run-rate': 'BROADSIDE_MAX_RUN_RATE',
  'max-rate': 'BROADSIDE_MAX_RATE',
  'max-run-connections': 'BROADSIDE_MAX_RUN_CONNECTIONS',
  'max-connections': 'BROADSIDE_MAX_CONNECTIONS',
} as const;

type Setting = keyof typeof VARIABLE_OF_FLAG;

/** `broadside serve`: runs until a signal ends it. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('serve', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('serve', positionals);
  const setting = (name: Setting): string | undefined =>
    values[name] ?? fromEnvironment(VARIABLE_OF_FLAG[name]);
  const redisUrl = setting('redis');
  const slots =
    wholeNumberFlag('--slots', setting('slots'), { least: 0, most: LIMITS.maxShards }) ??
    (redisUrl === undefined ? availableParallelism() : 0);
  const port = wholeNumberFlag('--port', setting('port'), { least: 0, most: 65_535 }) ?? DEFAULT_PORT;
  const targets = targetRules(values);
  const options = {
    ...given(setting),
    host: setting('host') ?? '127.0.0.1',
    port,
    ...(targets.allow === undefined ? {} : { allowTargets: targets.allow }),
    ...(targets.deny === undefined ? {} : { denyTargets: targets.deny }),
    ...ceilings(setting),
  };
  const transport = transportFlag(setting('transport'));
  if (values.transport !== undefined && slots === 0) {
    throw new CliError(
      EXIT.usage,
      '--transport: there are no slots here; give it to the agents (broadside agent --transport …)',
    );
  }
  return await serve(options, { slots, transport });
}

/** Options of the coordinator that were given; the rest is left to its own defaults. */
function given(setting: (name: Setting) => string | undefined): CoordinatorSettings {
  const named: Record<TextSetting, string | undefined> = {
    dataDir: setting('data-dir'),
    databaseUrl: setting('database'),
    redisUrl: setting('redis'),
    agentRedisUrl: setting('agent-redis'),
    apiToken: setting('token'),
    adminTokenFile: setting('admin-token-file'),
    joinToken: setting('join-token'),
    tlsCertFile: setting('tls-cert'),
    tlsKeyFile: setting('tls-key'),
  };
  const trusted = setting('trust-proxy')
    ?.split(',')
    .map((proxy) => proxy.trim());
  return {
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    ...(trusted === undefined ? {} : { trustedProxies: trusted }),
  };
}

interface Ceilings {
  readonly maxRunRate?: number;
  readonly maxRate?: number;
  readonly maxRunConnections?: number;
  readonly maxConnections?: number;
}

/** Those that were given. @throws CliError with EXIT.usage. */
function ceilings(setting: (name: Setting) => string | undefined): Ceilings {
  const { maxRate, maxConnections } = LIMITS;
  const flags = [
    ['maxRunRate', 'max-run-rate', maxRate],
    ['maxRate', 'max-rate', maxRate],
    ['maxRunConnections', 'max-run-connections', maxConnections],
    ['maxConnections', 'max-connections', maxConnections],
  ] as const;
  const read: Partial<Record<keyof Ceilings, number>> = {};
  for (const [name, flag, most] of flags) {
    const value = wholeNumberFlag(`--${flag}`, setting(flag), { least: 1, most });
    if (value !== undefined) read[name] = value;
  }
  return read;
}

type TextSetting = Exclude<
  keyof CoordinatorSettings,
  'host' | 'port' | 'trustedProxies' | 'allowTargets' | 'denyTargets' | keyof Ceilings
>;

interface CoordinatorSettings extends Ceilings {
  readonly host?: string;
  readonly port?: number;
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  readonly agentRedisUrl?: string;
  readonly apiToken?: string;
  readonly adminTokenFile?: string;
  readonly joinToken?: string;
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly trustedProxies?: string[];
  readonly allowTargets?: readonly string[];
  readonly denyTargets?: readonly string[];
}

/** The slots in this process, and what their engines use. */
interface OwnSlots {
  readonly slots: number;
  readonly transport: TransportWish | undefined;
}

async function serve(settings: CoordinatorSettings, { slots, transport }: OwnSlots): Promise<number> {
  const signals = new StopSignals();
  const stopped = new Promise<void>((resolve) => signals.onFirst(resolve));
  const { startCoordinator } = await import('@broadside/coordinator');
  const coordinator = await startCoordinator(settings);
  const closing = [() => coordinator.close()];
  const reload = (): void => void coordinator.reloadTls();
  // Without a certificate there is nothing to read again, and SIGHUP ends the process as usual.
  if (settings.tlsCertFile !== undefined) process.on('SIGHUP', reload);
  try {
    if (slots > 0) {
      const { startAgent } = await import('@broadside/agent');
      const agent = await startAgent({
        coordinatorUrl: coordinator.url,
        joinToken: coordinator.joinToken,
        trust: 'own-process',
        slots,
        targets: ownTargets(settings),
        ...(transport === undefined ? {} : { transport }),
        ...(coordinator.agentQueue === undefined ? {} : { queue: coordinator.agentQueue }),
      });
      closing.unshift(() => agent.close());
    }
    const tokenFile = await madeUpTokenFile(settings, coordinator.joinToken);
    if (tokenFile !== undefined)
      closing.push(() => rm(join(tokenFile, '..'), { recursive: true, force: true }));
    await writeOut(
      welcome({ url: coordinator.url, settings, slots, tokenFile, needsToken: coordinator.needsToken }),
    );
    await stopped;
    writeNote('stopping; a second signal leaves at once');
  } finally {
    await closeWithin(closing);
    process.off('SIGHUP', reload);
    signals.dispose();
  }
  // To be stopped is the usual end of a server, so it is a success.
  return EXIT.ok;
}

/** A join token that the coordinator made up goes to a file that only this user can read, never to the screen. */
async function madeUpTokenFile(
  settings: CoordinatorSettings,
  joinToken: string,
): Promise<string | undefined> {
  if (settings.joinToken !== undefined || settings.redisUrl === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'broadside-'));
  const path = join(folder, 'join-token');
  await writeFile(path, `${joinToken}\n`, { mode: 0o600 });
  return path;
}

/** The slots in this process are told by name what their coordinator names. */
function ownTargets({ allowTargets, denyTargets }: CoordinatorSettings): AgentTargets {
  return {
    ...(allowTargets === undefined ? {} : { allow: allowTargets }),
    ...(denyTargets === undefined ? {} : { deny: denyTargets }),
  };
}

interface AgentTargets {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

interface Welcome {
  readonly url: string;
  readonly settings: CoordinatorSettings;
  readonly slots: number;
  readonly tokenFile: string | undefined;
  readonly needsToken: boolean;
}

function welcome({ url, settings, slots, tokenFile, needsToken }: Welcome): string {
  const tokenHint = needsToken ? '   (with BROADSIDE_TOKEN set)' : '';
  const joinHint =
    tokenFile === undefined ? '   (with BROADSIDE_JOIN_TOKEN set)' : ` --token-file ${tokenFile}`;
  const lines = [
    `broadside coordinator listens on ${url}`,
    slots === 0 ? '  no slots here: agents bring them' : `  ${slots} slots in this process`,
    settings.redisUrl === undefined
      ? '  join agents: start with --redis URL, then agents on any machine can join'
      : `  join an agent: broadside agent --join ${url}${joinHint}`,
    settings.adminTokenFile === undefined ? '' : `  the first admin's token: ${settings.adminTokenFile}`,
    `  fire a run:    broadside ab --agents-at ${url} -n 10000 -c 10 -k http://HOST/${tokenHint}`,
    settings.dataDir === undefined && settings.databaseUrl === undefined
      ? '  runs are forgotten at the end; --data-dir DIR keeps them'
      : '',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

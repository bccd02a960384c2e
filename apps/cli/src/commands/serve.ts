import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CoordinatorOptions } from '@broadside/coordinator';
import { EXIT, LIMITS } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { closeWithin } from '../cluster/closing.js';
import { readFlags, refuseWords } from '../flags.js';
import { help } from '../help/serve.help.js';
import { type LogFormat, logFormatOf } from '../output/log-format.js';
import { writeOut } from '../output/streams.js';
import { welcomeText } from '../output/welcome-text.js';
import { readCertificates, readPrivateKey } from '../run/pem-file.js';
import { StopSignals } from '../run/stop-signals.js';
import { Settings } from '../settings.js';
import { TARGET_FLAGS, targetRules } from '../target-flags.js';
import { type TransportWish, transportFlag } from '../transport-flag.js';

export const FLAGS = {
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
  'log-format': { type: 'string' },
  ...TARGET_FLAGS,
  'keep-runs': { type: 'string' },
  'max-run-rate': { type: 'string' },
  'max-rate': { type: 'string' },
  'max-run-connections': { type: 'string' },
  'max-connections': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const DEFAULT_PORT = 7_070;

/** Settings by the name of the coordinator's field, where it is one. */
const NAMES = {
  host: { flag: 'host', variable: 'BROADSIDE_HOST' },
  port: { flag: 'port', variable: 'BROADSIDE_PORT' },
  dataDir: { flag: 'data-dir', variable: 'BROADSIDE_DATA_DIR' },
  databaseUrl: { flag: 'database', variable: 'BROADSIDE_DATABASE_URL' },
  redisUrl: { flag: 'redis', variable: 'BROADSIDE_REDIS_URL' },
  agentRedisUrl: { flag: 'agent-redis', variable: 'BROADSIDE_AGENT_REDIS_URL' },
  apiToken: { flag: 'token', variable: 'BROADSIDE_TOKEN' },
  adminTokenFile: { flag: 'admin-token-file', variable: 'BROADSIDE_ADMIN_TOKEN_FILE' },
  joinToken: { flag: 'join-token', variable: 'BROADSIDE_JOIN_TOKEN' },
  tlsCertFile: { flag: 'tls-cert', variable: 'BROADSIDE_TLS_CERT' },
  tlsKeyFile: { flag: 'tls-key', variable: 'BROADSIDE_TLS_KEY' },
  trustedProxies: { flag: 'trust-proxy', variable: 'BROADSIDE_TRUST_PROXY' },
  slots: { flag: 'slots', variable: 'BROADSIDE_SLOTS' },
  transport: { flag: 'transport', variable: 'BROADSIDE_TRANSPORT' },
  logFormat: { flag: 'log-format', variable: 'BROADSIDE_LOG_FORMAT' },
  keepRuns: { flag: 'keep-runs', variable: 'BROADSIDE_KEEP_RUNS' },
  maxRunRate: { flag: 'max-run-rate', variable: 'BROADSIDE_MAX_RUN_RATE' },
  maxRate: { flag: 'max-rate', variable: 'BROADSIDE_MAX_RATE' },
  maxRunConnections: { flag: 'max-run-connections', variable: 'BROADSIDE_MAX_RUN_CONNECTIONS' },
  maxConnections: { flag: 'max-connections', variable: 'BROADSIDE_MAX_CONNECTIONS' },
} as const;

/** `broadside serve`: runs until a signal ends it. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('serve', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('serve', positionals);
  const given = new Settings(values, NAMES);
  const slots =
    given.wholeNumber('slots', { least: 0, most: LIMITS.maxShards }) ??
    (given.text('redisUrl') === undefined ? availableParallelism() : 0);
  const trusted = given
    .text('trustedProxies')
    ?.split(',')
    .map((proxy) => proxy.trim());
  const targets = targetRules(values);
  const settings: CoordinatorOptions = {
    ...given.given([
      'host',
      'dataDir',
      'databaseUrl',
      'redisUrl',
      'agentRedisUrl',
      'apiToken',
      'adminTokenFile',
      'joinToken',
      'tlsCertFile',
      'tlsKeyFile',
    ]),
    ...(trusted === undefined ? {} : { trustedProxies: trusted }),
    ...(targets.allow === undefined ? {} : { allowTargets: [...targets.allow] }),
    ...(targets.deny === undefined ? {} : { denyTargets: [...targets.deny] }),
    ...boundsOf(given),
    port: given.wholeNumber('port', { least: 0, most: 65_535 }) ?? DEFAULT_PORT,
    nameOf: (field) => (Object.hasOwn(NAMES, field) ? given.nameOf(field as keyof typeof NAMES) : field),
  };
  const transport = transportFlag(given.text('transport'), given.nameOf('transport'));
  if (values.transport !== undefined && slots === 0) {
    throw new CliError(
      EXIT.usage,
      '--transport: there are no slots here; give it to the agents (broadside agent --transport …)',
    );
  }
  await checkTlsFiles(given);
  const logFormat = logFormatOf(given.text('logFormat'), given.nameOf('logFormat'));
  return await serve(settings, { slots, transport, logFormat });
}

/** The coordinator reads them again, and again when they change. @throws CliError with EXIT.file or EXIT.usage. */
async function checkTlsFiles(given: Settings<'tlsCertFile' | 'tlsKeyFile'>): Promise<void> {
  const [certFile, keyFile] = [given.text('tlsCertFile'), given.text('tlsKeyFile')];
  if (certFile !== undefined) await readCertificates(given.nameOf('tlsCertFile'), certFile);
  if (keyFile !== undefined) await readPrivateKey(given.nameOf('tlsKeyFile'), keyFile);
}

type Bound = 'maxRunRate' | 'maxRate' | 'maxRunConnections' | 'maxConnections' | 'keepRuns';

/** Those that were given. @throws CliError with EXIT.usage. */
function boundsOf(given: Settings<Bound>): Partial<Record<Bound, number>> {
  const { maxRate, maxConnections, maxKeptRuns } = LIMITS;
  const bounds = [
    ['maxRunRate', maxRate],
    ['maxRate', maxRate],
    ['maxRunConnections', maxConnections],
    ['maxConnections', maxConnections],
    ['keepRuns', maxKeptRuns],
  ] as const;
  const read: Partial<Record<Bound, number>> = {};
  for (const [field, most] of bounds) {
    const value = given.wholeNumber(field, { least: 1, most });
    if (value !== undefined) read[field] = value;
  }
  return read;
}

/** What is not the coordinator's: the slots in this process, what their engines use, and how lines are written. */
interface OwnSettings {
  readonly slots: number;
  readonly transport: TransportWish | undefined;
  readonly logFormat: LogFormat;
}

async function serve(settings: CoordinatorOptions, own: OwnSettings): Promise<number> {
  const { slots, transport } = own;
  const signals = new StopSignals();
  const stopped = new Promise<void>((resolve) => signals.onFirst(resolve));
  const [{ startCoordinator }, { openServerLog }] = await Promise.all([
    import('@broadside/coordinator'),
    import('../output/server-log.js'),
  ]);
  const { logger, note } = openServerLog(own.logFormat, 'info');
  const coordinator = await startCoordinator({ ...settings, logger });
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
        // That it joined and took a shard, the coordinator tells.
        logger: logger.child({}, { level: 'warn' }),
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
      welcomeText({
        url: coordinator.url,
        hostname: hostname(),
        settings,
        slots,
        tokenFile,
        needsToken: coordinator.needsToken,
        adminTokenFileUse: coordinator.adminTokenFileUse,
      }),
    );
    await stopped;
    note('stopping; a second signal leaves at once');
  } finally {
    await closeWithin(closing);
    process.off('SIGHUP', reload);
    signals.dispose();
  }
  // To be stopped is the usual end of a server, so it is a success.
  return EXIT.ok;
}

/** A join token that the coordinator made up goes to a file that only this user can read, never to the screen. */
async function madeUpTokenFile(settings: CoordinatorOptions, joinToken: string): Promise<string | undefined> {
  if (settings.joinToken !== undefined || settings.redisUrl === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'broadside-'));
  const path = join(folder, 'join-token');
  await writeFile(path, `${joinToken}\n`, { mode: 0o600 });
  return path;
}

/** The slots in this process are told by name what their coordinator names. */
function ownTargets({ allowTargets, denyTargets }: CoordinatorOptions): AgentTargets {
  return {
    ...(allowTargets === undefined ? {} : { allow: allowTargets }),
    ...(denyTargets === undefined ? {} : { deny: denyTargets }),
  };
}

interface AgentTargets {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

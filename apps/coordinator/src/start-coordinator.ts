/**
 * Puts a coordinator together: store and queue beside Nest's imports, because each takes longer than all the
 * rest; then the parts, then the port. Whatever fails, everything opened before is closed again.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BroadsideError, errorSerializers } from '@broadside/shared';
import { type Logger, pino } from 'pino';
import { type AdminTokenFileUse, buildAccess, newJoinToken, openAccess } from './access/access.js';
import { clearTextWarning } from './access/clear-text.js';
import type { Building, Parts, PartsInput } from './build-parts.js';
import { type Config, type ConfigInput, type NameOfSetting, parseConfig } from './config/config.schema.js';
import { FailureLog } from './failure-log.js';
import type { TlsFiles } from './http/tls-files.js';
import { NestLogger } from './nest-logger.js';
import type { QueueWiring, ShardQueueWiring } from './queue/bull-wiring.js';
import { QueueError } from './queue/queue-error.js';
import { openQueuePrefix } from './queue-prefix.js';
import { SettingsRepository } from './safety/settings.repository.js';
import type { Store } from './storage/store.js';
import { StoreError } from './storage/store-error.js';

/** One part that does not let go must not keep the others from it. */
const CLOSE_TIMEOUT_MS = 15_000;
/** How long the reports of runs that ended with the coordinator can still be asked for. */
const REPORT_GRACE_MS = 1_000;

/** See config.schema.ts for each setting. */
export interface CoordinatorOptions extends ConfigInput {
  /** Where log lines go; absent: standard error as JSON, from `logLevel` on. */
  readonly logger?: Logger;
  /** What a person calls a setting, for messages: the flag or the variable that gave it. */
  readonly nameOf?: NameOfSetting;
}

export interface Coordinator {
  /** `http://host:port`, or `https:`, where REST, the live stream and agents connect. */
  readonly url: string;
  readonly port: number;
  /** What agents must show; the given one or a generated one. */
  readonly joinToken: string;
  /** Whether people have to show a token. */
  readonly needsToken: boolean;
  /** What came of the admin token file; undefined without one. */
  readonly adminTokenFileUse: AdminTokenFileUse | undefined;
  /** The queue for an agent in this process; undefined when the queue is on Redis. */
  readonly agentQueue: ShardQueueWiring | undefined;
  /** Reads certificate and key again, as is done anyway a second after they change. Never rejects. */
  reloadTls(): Promise<void>;
  /** Stops all runs, tells agents and watchers, and lets go of queue and store. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a coordinator; when it resolves, runs are accepted.
 * @throws BroadsideError in one clear line without secrets: `invalid` for settings, `unavailable` for a store,
 *   a queue or a port that cannot be used.
 */
export async function startCoordinator(options: CoordinatorOptions = {}): Promise<Coordinator> {
  const { logger, nameOf, ...input } = options;
  const config = parseConfig(input, nameOf);
  const log = withPlainErrors(
    logger ?? pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true })),
  );
  const closers = new Closers(log);
  try {
    return await start(config, log, closers);
  } catch (error) {
    await closers.closeAll();
    if (error instanceof StoreError || error instanceof QueueError) {
      throw new BroadsideError('unavailable', error.message, { cause: error });
    }
    throw error;
  }
}

async function start(config: Config, log: Logger, closers: Closers): Promise<Coordinator> {
  const joinToken = config.joinToken ?? newJoinToken();
  const now = (): Date => new Date();
  const access = buildAccess(config, now);
  const tls = await openTls(config, log, closers);
  const opening = await beginOpening(config, log, closers);
  const building = buildWhenOpen(opening, { config, access, log });
  // Whoever waits for the parts first gets the error; the other must not count as unhandled.
  building.catch(() => undefined);
  const { createApp } = await import('./app.js');
  const logger = new NestLogger(log);
  const app = await createApp({ building, log, logger, gate: access.gate, tls });
  const { parts, wiring } = await building;
  const server = app.getHttpServer() as Server;
  parts.upgrades.attach(server);
  closers.add(() => Promise.all([parts.tokens.close(), parts.audit.close()]).then(() => undefined));
  closers.add(async () => {
    const endedRuns = await parts.runs.close();
    // Whoever follows such a run has just been told that it has ended, and now asks for its report.
    if (endedRuns > 0) await delay(REPORT_GRACE_MS);
    await Promise.all([parts.agents.close(), parts.live.close()]);
    server.closeAllConnections();
    await app.close();
    parts.events.removeAll();
  });
  const adminTokenFileUse = await openAccess({
    config,
    registry: access.registry,
    tokens: parts.tokens,
    joinToken,
    now,
  });
  await parts.runs.open();
  await parts.killSwitch.enforce();
  await listen(() => app.listen(config.port, config.host), config);
  logger.endStart();
  // A TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  const url = `${scheme}://${config.host.includes(':') ? `[${config.host}]` : config.host}:${port}`;
  log.debug(`listening on ${url}`);
  const warning = clearTextWarning(config);
  if (warning !== undefined) log.warn(warning);
  const agentQueue = wiring.kind === 'embedded' ? wiring : undefined;
  return {
    url,
    port,
    joinToken,
    get needsToken() {
      return access.registry.guardsPeople;
    },
    adminTokenFileUse,
    agentQueue,
    reloadTls: async () => await tls?.reload(),
    close: () => closers.closeAll(),
  };
}

/** Whoever made the logger: an error of a library may hold a secret in a field that nobody knows. */
function withPlainErrors(logger: Logger): Logger {
  return logger.child({}, { serializers: errorSerializers(logger.isLevelEnabled('debug')) });
}

async function openTls(config: Config, log: Logger, closers: Closers): Promise<TlsFiles | undefined> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = config;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const { TlsFiles } = await import('./http/tls-files.js');
  const tls = await TlsFiles.open({ certFile, keyFile, log });
  closers.add(() => Promise.resolve(tls.close()));
  return tls;
}

/** The store on its way; in an object, because a promise in a promise would be waited for. */
interface Opening {
  readonly store: Promise<Store>;
  /** @param onChanged told when the queue's Redis is lost or back, for those whose runs it concerns. */
  readonly openQueue: (
    store: Store,
    prefix: string,
    onChanged: (where: string, isThere: boolean) => void,
  ) => Promise<QueueWiring>;
}

/** Resolves as soon as the store has begun to start in its own thread, before any other heavy import. */
async function beginOpening(config: Config, log: Logger, closers: Closers): Promise<Opening> {
  const failures = new FailureLog(log);
  const onError = (error: Error): void => failures.error(error, 'store or queue');
  const { databaseUrl, dataDir, redisUrl } = config;
  const { openStore } = await import('./storage/store.js');
  const store = openStore({
    dataDir,
    isExclusive: true,
    onError,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  closers.add(() =>
    store.then(
      (opened) => opened.close(),
      () => undefined,
    ),
  );
  // A failure is reported by whoever waits for the store, which may be a little later.
  store.catch(() => undefined);
  const openQueue: Opening['openQueue'] = async (opened, prefix, onChanged) => {
    const { createQueueWiring } = await import('./queue/queue-wiring.js');
    const wiring = await createQueueWiring({
      store: opened,
      prefix,
      onError,
      onLost: (where) => {
        log.warn(`lost Redis at ${where}; running shards go on`);
        onChanged(where, false);
      },
      onRestored: (where) => {
        log.warn(`Redis at ${where} is back`);
        onChanged(where, true);
      },
      ...(redisUrl === undefined ? {} : { redisUrl }),
    });
    closers.add(() => wiring.close());
    return wiring;
  };
  return { store, openQueue };
}

async function buildWhenOpen(
  opening: Opening,
  given: Pick<PartsInput, 'config' | 'access' | 'log'>,
): Promise<Building> {
  const [{ buildParts, loadState }, store] = await Promise.all([
    import('./build-parts.js'),
    opening.store,
    // Heavy; it comes into memory while the store starts.
    import('./queue/queue-wiring.js'),
  ]);
  // The queue may be lost while the parts are being built, when there are no runs yet.
  const built: { parts?: Parts } = {};
  const queuePrefix = await openQueuePrefix(new SettingsRepository(store), given.config);
  const [wiring, state] = await Promise.all([
    opening.openQueue(store, queuePrefix, (where, isThere) => built.parts?.runs.queueChanged(where, isThere)),
    loadState(store),
  ]);
  const parts = buildParts({ ...given, ...state, store, wiring, queuePrefix });
  built.parts = parts;
  return { wiring, parts };
}

async function listen(bind: () => Promise<unknown>, { host, port }: Config): Promise<void> {
  try {
    await bind();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const reason =
      code === 'EADDRINUSE'
        ? 'another program listens there'
        : code === 'EACCES'
          ? 'this user may not use that port'
          : code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND'
            ? 'this machine has no such address'
            : String(error);
    throw new BroadsideError('unavailable', `cannot listen on ${host}:${port}: ${reason}`, {
      hint: 'choose another port or host',
      cause: error,
    });
  }
}

async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** What has been opened, to be closed in reverse order, once. */
class Closers {
  readonly #log: Logger;
  readonly #closers: (() => Promise<void>)[] = [];
  #closing: Promise<void> | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  closeAll(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    for (const close of this.#closers.reverse()) {
      try {
        await within(CLOSE_TIMEOUT_MS, close());
      } catch (error) {
        // What is left must be closed all the same.
        this.#log.error({ err: error }, 'something could not be closed');
      }
    }
  }
}

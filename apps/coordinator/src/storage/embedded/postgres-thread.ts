/**
 * Entry of the thread that owns the embedded PostgreSQL (PGlite). In a thread of its own because the engine
 * is synchronous WebAssembly: a long statement must not stop the coordinator's event loop, and starting
 * runs beside the imports of the main thread.
 */

import { setFlagsFromString } from 'node:v8';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { ensureCluster } from '../cluster-template.js';
import { explainDirectoryError } from '../data-directory.js';
import { StoreError } from '../store-error.js';
import { SessionSharing } from './session-sharing.js';
import type { MessageFromThread, MessageToThread, ThreadOptions } from './thread-messages.js';
import { concatBytes } from './wire-protocol.js';

/** The engine reserves it at start; runs of ours touch a few tables of a few megabytes. */
const SHARED_BUFFERS = '8MB';

/**
 * How much of the engine's code must run before V8 compiles a part of it a second time, optimised (its own
 * default is 1.8 million). That takes more than a second of CPU time in the first seconds, which a short run
 * never gets back and which delays everything that starts beside it; the busiest parts of a long-lived store
 * still get there.
 */
const WASM_TIERING_BUDGET = 180_000_000;

const parent = requireParentPort();
// The main side of this package is the only one that starts this thread, with exactly this type.
const options = workerData as ThreadOptions;

async function main(): Promise<void> {
  // For the whole process; nothing else in it is WebAssembly, and the engine is not compiled yet.
  setFlagsFromString(`--wasm-tiering-budget=${WASM_TIERING_BUDGET}`);
  // Connections that come before the engine is up wait here.
  const early: MessagePort[] = [];
  let connect = (port: MessagePort): void => void early.push(port);
  let isCloseAsked = false;
  let close = async (): Promise<void> => {
    isCloseAsked = true;
    await Promise.resolve();
  };
  parent.on('message', (message: MessageToThread) => {
    if (message.kind === 'connect') connect(message.port);
    else void close().catch(fail);
  });

  // Here and not on the main thread, whose time at start belongs to its imports.
  const { clusterDir, freshSchemaVersion } = prepareCluster();
  const engine = await startEngine(clusterDir);
  const sharing = new SessionSharing({
    run: (batch) => runRaw(engine, batch),
    serverVersion: await serverVersionOf(engine),
    idleHoldMs: options.idleHoldMs,
  });
  connect = (port) => attach(sharing, port);
  close = async () => {
    await engine.close();
    tell({ kind: 'closed' });
    parent.close();
  };
  for (const port of early) connect(port);
  tell({ kind: 'ready', freshSchemaVersion });
  if (isCloseAsked) await close();
}

function prepareCluster(): ReturnType<typeof ensureCluster> {
  try {
    return ensureCluster(options.directory, options.templateDir);
  } catch (error) {
    throw explainDirectoryError(error, options.directory);
  }
}

/** The engine itself says little more than that it did not start: it writes what it finds to a log nobody sees. */
async function startEngine(clusterDir: string): Promise<PGlite> {
  try {
    return await PGlite.create(clusterDir, { startParams: startParameters() });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(
      options.isEphemeral
        ? `the embedded store could not be started in ${options.directory}: ${reason}`
        : `the store in ${options.directory} is damaged, or of another version: it cannot be opened (${reason}); ` +
            'put back a copy, or give another data directory',
      { cause: error },
    );
  }
}

function startParameters(): string[] {
  const settings = [`shared_buffers=${SHARED_BUFFERS}`, 'search_path=broadside,bullmq,public'];
  // To fill new files of the log with zeros is for file systems that lose what they were promised; nothing is here.
  settings.push('wal_init_zero=off');
  // fsync is off in every case (the engine's default): the files survive the death of the process, not of
  // the machine. Without these two a kill may also cost the last transactions, which an ephemeral store
  // does not outlive anyway.
  if (options.isEphemeral) settings.push('synchronous_commit=off', 'full_page_writes=off');
  return [...PGlite.defaultStartParams, ...settings.flatMap((setting) => ['-c', setting])];
}

async function serverVersionOf(engine: PGlite): Promise<string> {
  const { rows } = await engine.query<{ server_version: string }>('show server_version');
  return rows[0]?.server_version ?? 'unknown';
}

function runRaw(engine: PGlite, batch: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  // The promise only stands for the file system's sync, which files on disk do not have; the answer is
  // complete when the call returns. The bytes are a view of the engine's memory, hence the copies.
  void engine
    .execProtocolRawStream(batch, {
      syncToFs: false,
      onRawData: (bytes) => void parts.push(bytes.slice()),
    })
    .catch(fail);
  return concatBytes(parts);
}

function attach(sharing: SessionSharing, port: MessagePort): void {
  const input = sharing.connect({
    send: (bytes) => {
      const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice();
      // Our arrays are never on shared memory, which is the only buffer that cannot be moved.
      port.postMessage(own, [own.buffer as ArrayBuffer]);
    },
    end: () => {
      port.postMessage(null);
      port.close();
    },
  });
  port.on('message', (bytes: Uint8Array) => input.receive(bytes));
  port.on('close', () => input.close());
}

function tell(message: MessageFromThread): void {
  parent.postMessage(message);
}

function fail(error: unknown): void {
  tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  parent.close();
}

function requireParentPort(): MessagePort {
  if (parentPort === null) throw new Error('this file is the entry of a thread');
  return parentPort;
}

main().catch(fail);

// A real redis-server on a free port of its place, with its files in a temporary folder.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFreePort } from './free-port.js';
import { LOOPBACK, type Place } from './place.js';
import type { RunningProcess } from './process.js';
import { programPath } from './programs.js';

export interface RedisOptions {
  /** Keep every write on disk, so that `restart` after `kill` finds it again. */
  readonly isDurable?: boolean;
  readonly password?: string;
  /** Loopback unless told. */
  readonly place?: Place;
}

/** One redis-server. `await RedisServer.start()`, and `stop()` in afterAll. */
export class RedisServer {
  readonly port: number;
  readonly url: string;
  readonly #folder: string;
  readonly #options: RedisOptions;
  #process: RunningProcess;

  private constructor(port: number, folder: string, options: RedisOptions, started: RunningProcess) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
    this.#process = started;
    const credentials = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}@`;
    this.url = `redis://${credentials}${(options.place ?? LOOPBACK).address}:${port}`;
  }

  static async start(options: RedisOptions = {}): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-redis-'));
    try {
      return await withFreePort(
        async (port) => new RedisServer(port, folder, options, await launch(port, folder, options)),
      );
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  hasEnded(): boolean {
    return this.#process.hasEnded();
  }

  /** As a crash: SIGKILL. The files stay, so that `restart` can read them. */
  async kill(): Promise<void> {
    await this.#process.kill();
  }

  /** Starts again on the same port with the same files. The server must have been killed before. */
  async restart(): Promise<void> {
    if (!this.#process.hasEnded()) throw new Error('redis-server still runs; kill it first');
    this.#process = await launch(this.port, this.#folder, this.#options);
  }

  /** Ends the server and removes its files. */
  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function launch(port: number, folder: string, options: RedisOptions): Promise<RunningProcess> {
  const durability = options.isDurable === true ? ['yes', 'always'] : ['no', 'no'];
  const place = options.place ?? LOOPBACK;
  const args = ['--port', String(port), '--bind', place.address, '--dir', folder, '--save', ''];
  args.push('--appendonly', durability[0] ?? 'no', '--appendfsync', durability[1] ?? 'no');
  args.push('--maxmemory-policy', 'noeviction', '--daemonize', 'no');
  if (options.password !== undefined) args.push('--requirepass', options.password);
  const started = await place.start(programPath('redis-server'), args);
  try {
    await started.waitForLine(/Ready to accept connections/);
  } catch (error) {
    await started.kill();
    throw error;
  }
  return started;
}

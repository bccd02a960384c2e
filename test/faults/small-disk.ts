// A disk of a few MB for one process, that a test can fill and empty: a tmpfs in a mount namespace of the process, so
// it ends with it and is nowhere else to be seen. Linux and root only.

import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOOPBACK, type Place } from '../support/place.js';
import { type ProcessOptions, type RunningProcess, startProcess } from '../support/process.js';

const UNSHARE = '/usr/bin/unshare';
const CHUNK_BYTES = 64 * 1_024;

export class SmallDisk implements Place {
  readonly address = LOOPBACK.address;
  /** Where the process finds it. */
  readonly path: string;
  readonly #sizeMb: number;
  #pid = 0;

  private constructor(path: string, sizeMb: number) {
    this.path = path;
    this.#sizeMb = sizeMb;
  }

  static async create(sizeMb: number): Promise<SmallDisk> {
    return new SmallDisk(await mkdtemp(join(tmpdir(), 'broadside-disk-')), sizeMb);
  }

  /** Each program that is started here has an empty disk. */
  async start(
    command: string,
    args: readonly string[],
    options: ProcessOptions = {},
  ): Promise<RunningProcess> {
    // Every step becomes the next one, so the process keeps its number.
    const script = `mount -t tmpfs -o size=${this.#sizeMb}m tmpfs "$0" && exec "$@"`;
    const words = ['--mount', '/bin/sh', '-c', script, this.path, command, ...args];
    const started = await startProcess(UNSHARE, words, options);
    this.#pid = started.pid;
    return started;
  }

  /** Until not a byte is left. */
  async fill(): Promise<void> {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    try {
      for (;;) await writeFile(this.#filler, chunk, { flag: 'a' });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    }
  }

  async empty(): Promise<void> {
    await truncate(this.#filler);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }

  /** The disk as its process sees it. */
  get #filler(): string {
    return `/proc/${this.#pid}/root${this.path}/filler`;
  }
}

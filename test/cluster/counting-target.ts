// The target of the random schedules, on its host: it counts by itself, apart from everything that the cluster says.

import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Place } from '../support/place.js';
import type { RunningProcess } from '../support/process.js';

const SCRIPT = fileURLToPath(new URL('counting-process.mjs', import.meta.url));

export class CountingTarget {
  readonly url: string;
  readonly #folder: string;
  readonly #process: RunningProcess;

  private constructor(url: string, folder: string, started: RunningProcess) {
    this.url = url;
    this.#folder = folder;
    this.#process = started;
  }

  static async start(place: Place, delayMs: number): Promise<CountingTarget> {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-target-'));
    const words = [SCRIPT, place.address, join(folder, 'counts'), String(delayMs)];
    const started = await place.start(process.execPath, words);
    const line = await started.waitForLine(/^listens on /);
    return new CountingTarget(`http://${place.address}:${line.replace('listens on ', '')}`, folder, started);
  }

  /** Requests that came for this path, by now. */
  async seen(path: string): Promise<number> {
    const socket = connect(join(this.#folder, 'counts'));
    const counts = JSON.parse(await text(socket)) as Readonly<Record<string, number>>;
    return counts[path] ?? 0;
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

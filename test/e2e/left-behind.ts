// What a command leaves behind: files in its own temporary folder, and processes that still know of it.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder for the commands of one test. Give `env` to each of them. */
export class PrivateFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<PrivateFolder> {
    return new PrivateFolder(await mkdtemp(join(tmpdir(), 'broadside-e2e-')));
  }

  get env(): Readonly<Record<string, string>> {
    return { TMPDIR: this.path };
  }

  files(): Promise<string[]> {
    return readdir(this.path);
  }

  /** Ids of the processes that were started with this folder, children of children included. Linux only. */
  async processes(): Promise<number[]> {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const known = await Promise.all(
      ids.map(async (id) => {
        // A process that ends meanwhile, or belongs to somebody else, is none of ours.
        const environment = await readFile(`/proc/${id}/environ`, 'latin1').catch(() => '');
        return environment.split('\0').includes(`TMPDIR=${this.path}`);
      }),
    );
    return ids.filter((_, i) => known[i] === true).map(Number);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}

// The C programs of the benchmarks, compiled into a folder of their own, and where processes run: the target has
// core 0 and the generator core 1, so that neither takes time from the other.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const TARGET_CORE = 0;
export const GENERATOR_CORE = 1;

/**
 * @param {number} core
 * @param {readonly string[]} command
 * @returns {[file: string, args: string[]]}
 */
export function pinned(core, command) {
  return ['taskset', ['-c', String(core), ...command]];
}

/**
 * Starts target.c on its core and hands its port and the stopwatch to `use`; stops and removes everything after.
 * @template Result
 * @param {(given: { port: number, stopwatch: string }) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withTarget(use) {
  const folder = await mkdtemp(join(tmpdir(), 'broadside-bench-'));
  try {
    const [program, stopwatch] = [join(folder, 'target'), join(folder, 'stopwatch')];
    for (const [output, source] of /** @type {const} */ ([
      [program, '../target.c'],
      [stopwatch, '../stopwatch.c'],
    ])) {
      await run('cc', ['-O2', '-o', output, new URL(source, import.meta.url).pathname]);
    }
    const [file, args] = pinned(TARGET_CORE, [program]);
    const target = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(target, 'exit');
    try {
      const [firstLine] = /** @type {[Buffer]} */ (await once(target.stdout, 'data'));
      return await use({ port: Number.parseInt(String(firstLine), 10), stopwatch });
    } finally {
      target.kill();
      await gone;
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Agents that start together on one machine measure it one after the other, because each would slow the other down;
 * and usually the second one finds what the first one has just written. A turn is a file beside the measurements.
 * It is a courtesy and no lock: who gets none in time goes on without.
 */
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Twice the longest measurement; an older turn was left by a process that was killed. */
const TURN_LIFE_MS = 4_000;
const LOOK_EVERY_MS = 20;

/**
 * Waits for the turn of this process, 4 s at most.
 * @param file where measurements are kept.
 * @returns gives the turn back.
 * @throws Error of the file system when the folder cannot be written.
 */
export async function takeMeasuringTurn(file: string, lifeMs = TURN_LIFE_MS): Promise<() => Promise<void>> {
  const turn = `${file}.turn`;
  await mkdir(dirname(file), { recursive: true });
  const deadlineMs = performance.now() + lifeMs;
  while (!(await tryTake(turn))) {
    const isLeft = (await ageMs(turn)) > lifeMs;
    // Two that find the same old turn both go on; then they measure at the same time, and nothing worse.
    if (isLeft) await rm(turn, { force: true });
    else if (performance.now() >= deadlineMs) return () => Promise.resolve();
    else await delay(LOOK_EVERY_MS);
  }
  return () => rm(turn, { force: true });
}

async function tryTake(turn: string): Promise<boolean> {
  try {
    await (await open(turn, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** 0 where it has just gone. */
async function ageMs(turn: string): Promise<number> {
  try {
    return Date.now() - (await stat(turn)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

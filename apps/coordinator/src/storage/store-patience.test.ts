import { LIMITS } from '@broadside/shared';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { LostStoreError } from './lost-store.js';
import { isPassing, StorePatience } from './store-patience.js';

const log = pino({ level: 'silent' });
const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

/** A patience whose time passes in its pauses. */
function trial(): { readonly patience: StorePatience; readonly spentMs: () => number } {
  let nowMs = 0;
  const pause = (ms: number): Promise<void> => {
    nowMs += ms;
    return Promise.resolve();
  };
  return { patience: new StorePatience({ log, nowMs: () => nowMs, pause }), spentMs: () => nowMs };
}

describe('the patience with the store', () => {
  it('asks again until the store is back', async () => {
    const { patience, spentMs } = trial();
    let tries = 0;
    const query = () => (++tries < 8 ? Promise.reject(away) : Promise.resolve('stored'));
    expect(await patience.ask('a report', query)).toBe('stored');
    expect(tries).toBe(8);
    expect(spentMs()).toBeLessThan(LIMITS.storePatienceMs);
  });

  it('ends, with what the store said last', async () => {
    const { patience, spentMs } = trial();
    await expect(patience.ask('a report', () => Promise.reject(away))).rejects.toBe(away);
    expect(spentMs()).toBeLessThanOrEqual(LIMITS.storePatienceMs);
    expect(spentMs()).toBeGreaterThan(LIMITS.storePatienceMs / 2);
  });

  it('does not wait where that cannot help', async () => {
    const { patience, spentMs } = trial();
    const wrong = Object.assign(new Error('duplicate key'), { code: '23505' });
    await expect(patience.ask('a report', () => Promise.reject(wrong))).rejects.toBe(wrong);
    expect(spentMs()).toBe(0);
  });

  it('ends at once where the store is gone for good, and tells that once', async () => {
    const told: string[] = [];
    const pause = () => Promise.reject(new Error('waited'));
    const patience = new StorePatience({
      log,
      pause,
      whyGone: () => 'the data directory /d was removed or moved away',
      onGone: (lost) => told.push(lost.sentence),
    });
    const query = () => Promise.resolve('stored');
    for (let i = 0; i < 2; i++) await expect(patience.ask('a report', query)).rejects.toThrow(LostStoreError);
    expect(told).toEqual([
      'the coordinator has lost its store: the data directory /d was removed or moved away; ' +
        'put that right, and start the coordinator again',
    ]);
  });

  it('ends where the store goes while it is waited for, and asks again when it is put back', async () => {
    let gone: string | undefined;
    const patience = new StorePatience({ log, whyGone: () => gone, pause: () => Promise.resolve() });
    const query = () => {
      gone = 'it was moved';
      return Promise.reject(away);
    };
    await expect(patience.ask('a report', query)).rejects.toMatchObject({ cause: away });
    gone = undefined;
    expect(await patience.ask('a report', () => Promise.resolve('stored'))).toBe('stored');
  });

  it('tells what passes from what does not', () => {
    for (const code of [
      '57P01',
      '57P03',
      '53100',
      '53300',
      '08006',
      '40001',
      '58030',
      'ECONNRESET',
      'EPIPE',
    ]) {
      expect(isPassing(Object.assign(new Error('x'), { code })), code).toBe(true);
    }
    for (const code of ['23505', '22P02', '42P01', '25P02']) {
      expect(isPassing(Object.assign(new Error('x'), { code })), code).toBe(false);
    }
    expect(isPassing(new Error('Connection terminated unexpectedly'))).toBe(true);
    expect(isPassing(new TypeError('x is undefined'))).toBe(false);
    expect(isPassing('away')).toBe(false);
  });
});

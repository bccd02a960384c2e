import { LIMITS } from '@broadside/shared';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
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

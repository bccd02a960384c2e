import { describe, expect, it } from 'vitest';
import { OutageTeller } from './outage-teller.js';

function tellerAt() {
  const lines: string[] = [];
  const clock = { nowUs: 0 };
  const teller = new OutageTeller({ tell: (line) => lines.push(line), nowUs: () => clock.nowUs });
  return { lines, clock, teller };
}

describe('outages', () => {
  it('are one line when the connection is lost, and one when it is back', () => {
    const { lines, clock, teller } = tellerAt();
    teller.back('the coordinator');
    teller.lost('refused');
    for (let attempt = 1; attempt <= 20; attempt++) {
      clock.nowUs += 500_000;
      teller.lost('refused');
    }
    clock.nowUs += 2_300_000;
    teller.back('the coordinator');
    expect(lines).toEqual(['refused; trying again', 'the coordinator is back after 12.3 s']);
  });

  it('before it was ever there end with the word that it was reached', () => {
    const { lines, clock, teller } = tellerAt();
    teller.lost('refused');
    clock.nowUs += 8_200_000;
    teller.back('the coordinator');
    teller.lost('closed');
    clock.nowUs += 10_000_000;
    teller.lost('closed');
    teller.back('the coordinator');
    expect(lines).toEqual([
      'refused; trying again',
      'reached the coordinator after 8.2 s',
      'closed; trying again',
      'the coordinator is back after 10 s',
    ]);
  });

  it('are not told when there was none', () => {
    const { lines, teller } = tellerAt();
    teller.back('the coordinator');
    expect(lines).toEqual([]);
  });

  it('that come all the time are told now and then, with their number, and the last one is never left out', () => {
    const { lines, clock, teller } = tellerAt();
    teller.back('it');
    for (let flap = 0; flap < 99; flap++) {
      teller.lost('closed');
      clock.nowUs += 100_000;
      teller.back('it');
      clock.nowUs += 100_000;
    }
    expect(lines).toEqual([
      'closed; trying again',
      'it is back after 0.1 s',
      'closed (lost 50 times); trying again',
      'it is back after 0.1 s',
    ]);
    teller.lost('closed');
    clock.nowUs += 10_000_000;
    teller.lost('refused');
    expect(lines.at(-1)).toBe('refused (lost 49 times); trying again');
  });

  it('whose reason changes are told again, no more often than that', () => {
    const { lines, clock, teller } = tellerAt();
    teller.lost('closed');
    clock.nowUs = 1;
    teller.lost('refused');
    expect(lines).toHaveLength(1);
    clock.nowUs = 10_000_000;
    teller.lost('refused');
    teller.lost('refused');
    expect(lines).toEqual(['closed; trying again', 'refused; trying again']);
  });

  it('that are tried again seldom are told at once when their reason is new, and once', () => {
    const { lines, clock, teller } = tellerAt();
    teller.lost('closed');
    clock.nowUs = 100_000;
    teller.lost('the token was refused', true);
    clock.nowUs = 60_000_000;
    teller.lost('the token was refused', true);
    expect(lines).toEqual(['closed; trying again', 'the token was refused; trying again']);
  });
});

import { describe, expect, it } from 'vitest';
import { ProgressView, progressLine, type SecondMessage } from './progress.js';

function message(
  second: number,
  changes: Partial<SecondMessage['second']> = {},
  completed = 2_000,
): SecondMessage {
  return {
    kind: 'second',
    runId: 'r',
    second: {
      second,
      planned: 1_000,
      sent: 1_000,
      completed: 990,
      failed: 10,
      inFlight: 0,
      openConnections: 10,
      bytesReceived: 1,
      busyShareMax: 0.5,
      ...changes,
    },
    total: { planned: 2_000, completed, failed: 20 },
  };
}

describe('progress line', () => {
  it('shows rate, failures, latency and the time left of a run by time', () => {
    const line = progressLine(message(1, { p50Us: 850, p99Us: 12_300 }), { durationMs: 10_000 });
    expect(line).toBe('2s  1,000/s  20 failed  p50 850µs  p99 12.3ms  8.00s left');
  });

  it('shows percent of a run by requests', () => {
    expect(progressLine(message(1), { requests: 8_080 })).toBe('2s  1,000/s  20 failed  25%');
  });

  it('shows the nearer end of a run that has two', () => {
    expect(progressLine(message(0), { requests: 4_040, durationMs: 10_000 })).toMatch(/50%$/);
    expect(progressLine(message(8), { requests: 4_040, durationMs: 10_000 })).toMatch(/left$/);
  });

  it('never shows more than everything', () => {
    expect(progressLine(message(9), { durationMs: 10_000 })).toMatch(/ 0ms left$/);
    expect(progressLine(message(1, {}, 99_999), { requests: 100 })).toMatch(/ 100%$/);
  });

  it('says when the generator is the limit', () => {
    const warned = { ...message(1), generatorWarning: 'the generator is the limit: 97 % busy' };
    expect(progressLine(warned, {})).toMatch(/ ! the generator is the limit: 97 % busy$/);
  });

  it('shows replies after the time of the load as what they are, and no rate', () => {
    const rest = message(3, { completed: 7, failed: 0 });
    expect(progressLine(rest, { durationMs: 3_000 })).toBe('4s  7 ended  20 failed  the last replies');
  });

  it('shows no time left of a load that somebody stopped', () => {
    const line = progressLine(message(1), { durationMs: 3_000 }, true);
    expect(line).toBe('2s  1,000 ended  20 failed  stopping');
  });

  it('says when sends are behind the rate', () => {
    const behind = message(1, { planned: 400, sent: 90 });
    expect(progressLine(behind, { rate: 400, durationMs: 10_000 })).toMatch(
      / ! behind the rate: 90 of 400 sent$/,
    );
    for (const plan of [{ durationMs: 10_000 }, { rate: 100, requests: 500 }]) {
      expect(progressLine(behind, plan)).not.toContain('behind');
    }
    expect(progressLine(message(1), { rate: 1_000 })).not.toContain('behind');
  });

  it('leaves latencies out of a second without replies', () => {
    expect(progressLine(message(1), { requests: 8_080 })).not.toMatch(/p50|p99/);
  });
});

describe('progress view', () => {
  function view(isTerminal: boolean) {
    const written: string[] = [];
    let nowMs = 0;
    const shown = new ProgressView(
      { write: (text) => written.push(text), isTerminal, columns: 20 },
      () => nowMs,
    );
    return { shown, written, advance: (ms: number) => (nowMs += ms) };
  }

  it('redraws one line on a terminal, cut so that it does not wrap, and takes it away', () => {
    const { shown, written } = view(true);
    shown.show('x'.repeat(50));
    shown.clear();
    shown.clear();
    expect(written).toEqual([`\r\u001b[2K${'x'.repeat(19)}`, '\r\u001b[2K']);
  });

  it('writes plain lines elsewhere, at most one a second', () => {
    const { shown, written, advance } = view(false);
    shown.show('a');
    advance(100);
    shown.show('b');
    advance(900);
    shown.show('c');
    shown.clear();
    expect(written).toEqual(['a\n', 'c\n']);
  });

  it('leaves out no second, although several come at once', () => {
    const { shown, written } = view(false);
    for (const line of ['1s', '2s', '3s']) shown.showSecond(line);
    expect(written).toEqual(['1s\n', '2s\n', '3s\n']);
  });

  it('lets a note stay on its own line', () => {
    const { shown, written } = view(true);
    shown.show('a');
    shown.note('n');
    expect(written.join('')).toBe('\r\u001b[2Ka\r\u001b[2Kn\n');
  });
});

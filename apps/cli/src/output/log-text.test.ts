import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { logText } from './log-text.js';

/** What a person sees of what is logged. */
function linesOf(log: (logger: pino.Logger) => void): string[] {
  const lines: string[] = [];
  const timestamp = (): string => `,"time":${Date.UTC(2026, 10, 30, 18, 5, 9, 123)}`;
  log(pino({ level: 'debug', timestamp, base: null }, { write: (line) => lines.push(logText(line)) }));
  return lines;
}

const RUN = '0c9e3f1a-58d1-4a39-9c7f-4f4a6f2c1b11';

describe('a line of the log for people', () => {
  it('says when, how bad, which run, what and why', () => {
    expect(
      linesOf((log) => {
        log.info({ run: RUN }, 'run starts on 2 slots');
        log.error({ run: RUN, err: new Error('no space') }, 'a state could not be stored');
        log.error({ run: RUN }, `the end of run ${RUN} could not be stored`);
        log.warn('lost Redis at redis://h:6379; running shards go on');
        log.error({ err: new Error('no space') }, 'a report could not be stored');
        log.warn({ reason: 'gone' }, 'leaving the queue failed');
      }),
    ).toEqual([
      '2026-11-30T18:05:09Z run 0c9e3f1a starts on 2 slots',
      '2026-11-30T18:05:09Z error: run 0c9e3f1a: a state could not be stored: no space',
      `2026-11-30T18:05:09Z error: the end of run ${RUN} could not be stored`,
      '2026-11-30T18:05:09Z warning: lost Redis at redis://h:6379; running shards go on',
      '2026-11-30T18:05:09Z error: a report could not be stored: no space',
      '2026-11-30T18:05:09Z warning: leaving the queue failed: gone',
    ]);
  });

  it('stays one line whatever a name from another machine holds', () => {
    expect(linesOf((log) => log.info('agent \u001b[2Jx\ny joined'))).toEqual([
      '2026-11-30T18:05:09Z agent ?[2Jx?y joined',
    ]);
  });
});

import { RUN_STATES } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { assertMove, canMove, endStateOf } from './run-state.js';

const fatal = { code: 'ECONNREFUSED', message: 'connect: Connection refused' };
const base = { onSocketError: 'continue', shardCount: 2, fatals: [] } as const;

describe('the states of a run', () => {
  it('lead from queued to finished in order', () => {
    const path = ['queued', 'preparing', 'running', 'closing', 'finished'] as const;
    for (let i = 1; i < path.length; i++) {
      expect(canMove(path[i - 1] ?? 'failed', path[i] ?? 'failed')).toBe(true);
    }
  });

  it('are never left once they are final', () => {
    for (const from of ['finished', 'aborted', 'failed'] as const) {
      for (const to of RUN_STATES) expect(canMove(from, to)).toBe(false);
    }
  });

  it('cannot be skipped: a run with shards closes before it ends', () => {
    expect(() => assertMove('running', 'finished')).toThrow('cannot go from running to finished');
    expect(() => assertMove('preparing', 'failed')).toThrow('cannot go from preparing to failed');
  });
});

describe('the ending of a run', () => {
  it('is finished when nothing went wrong', () => {
    expect(endStateOf(base)).toEqual({ state: 'finished' });
  });

  it('is aborted when somebody stopped it', () => {
    expect(endStateOf({ ...base, stopReason: 'stopped by request' })).toEqual({
      state: 'aborted',
      reason: 'stopped by request',
    });
  });

  it('is failed by one fatal error only where the plan stops on socket errors', () => {
    expect(endStateOf({ ...base, fatals: [fatal] }).state).toBe('finished');
    expect(endStateOf({ ...base, onSocketError: 'stop', fatals: [fatal] })).toEqual({
      state: 'failed',
      reason: fatal.message,
    });
  });

  it('is failed when every shard had a fatal error', () => {
    expect(endStateOf({ ...base, fatals: [fatal, fatal] }).state).toBe('failed');
  });

  it('names the cause of the coordinator before anything that follows from it', () => {
    const ending = endStateOf({
      ...base,
      failure: 'agent a was not ready',
      stopReason: 'x',
      fatals: [fatal],
    });
    expect(ending).toEqual({ state: 'failed', reason: 'agent a was not ready' });
  });
});

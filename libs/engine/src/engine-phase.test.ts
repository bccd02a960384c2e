import { expect, it } from 'vitest';
import { movePhase } from './engine-phase.js';

it('allows the way of a run and its early end', () => {
  expect(movePhase('ready', 'probing')).toBe('probing');
  expect(movePhase('probing', 'ready')).toBe('ready');
  for (const phase of ['preparing', 'ready', 'probing', 'armed', 'running', 'draining'] as const) {
    expect(movePhase(phase, 'ended')).toBe('ended');
  }
});

it('refuses every other move', () => {
  expect(() => movePhase('ended', 'running')).toThrow(/cannot go from ended to running/);
  expect(() => movePhase('ready', 'running')).toThrow(/cannot go/);
  expect(() => movePhase('running', 'armed')).toThrow(/cannot go/);
});

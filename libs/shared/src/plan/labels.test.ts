import { describe, expect, it } from 'vitest';
import { LIMITS } from '../limits.js';
import { hasLabels, labelsSchema, labelsText, parseLabels } from './labels.js';

describe('labels', () => {
  it('put an agent into the pool of whoever asks for some of them', () => {
    const labels = { zone: 'eu', disk: 'fast' };
    expect(hasLabels(labels, {})).toBe(true);
    expect(hasLabels(labels, { zone: 'eu' })).toBe(true);
    expect(hasLabels(labels, { zone: 'eu', disk: 'slow' })).toBe(false);
    expect(hasLabels(labels, { constructor: 'x' })).toBe(false);
    expect(hasLabels({}, { zone: 'eu' })).toBe(false);
  });

  it('read back as they are written', () => {
    expect(parseLabels(['zone=eu', 'disk=fast'])).toEqual({ zone: 'eu', disk: 'fast' });
    expect(labelsText({ zone: 'eu', disk: 'fast' })).toBe('disk=fast, zone=eu');
    expect(parseLabels([])).toEqual({});
  });

  it.each([
    [['zone'], '"zone": must be name=value'],
    [['zone='], '"zone=": name and value must be'],
    [['=eu'], '"=eu": name and value must be'],
    [['zone=e u'], '"zone=e u": name and value must be'],
    [['zone=eu=1'], '"zone=eu=1": name and value must be'],
    [['zone=eu', 'zone=us'], '"zone=us": zone is given twice'],
    [Array.from({ length: LIMITS.maxLabels + 1 }, (_, i) => `n${i}=v`), `${LIMITS.maxLabels + 1} labels`],
  ])('that are none are refused in one line: %j', (texts, start) => {
    expect(parseLabels(texts)).toMatch(new RegExp(`^${start}`));
  });

  it('are bounded on the wire', () => {
    const many = Object.fromEntries(Array.from({ length: LIMITS.maxLabels + 1 }, (_, i) => [`n${i}`, 'v']));
    expect(labelsSchema.safeParse(many).success).toBe(false);
    expect(labelsSchema.safeParse({ a: 'b\n' }).success).toBe(false);
    expect(labelsSchema.safeParse({ a: 'b' }).success).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { observed } from '../testing/observed.js';
import { demandOf, generatorWarningOf } from './generator-demand.js';
import { demandShareOf, selfMeasurementOf } from './self-measurement.js';

const second = {
  second: 0,
  planned: 10,
  sent: 10,
  completed: 10,
  failed: 0,
  inFlight: 1,
  openConnections: 1,
  bytesReceived: 1,
  busyShareMax: 0.5,
};

describe('generatorWarningOf', () => {
  it('is silent while the threads have time to spare, and without load', () => {
    expect(generatorWarningOf(second)).toBeUndefined();
    expect(generatorWarningOf({ ...second, demandShareMax: 1, sent: 0, completed: 0 })).toBeUndefined();
  });

  it('is silent about the rest of a second, of which no demand is known', () => {
    expect(generatorWarningOf({ ...second, second: 4, busyShareMax: 1 })).toBeUndefined();
  });

  it('names the numbers while a thread is full', () => {
    expect(generatorWarningOf({ ...second, demandShareMax: 0.95 })).toBe(
      'the generator is the limit: an engine thread needs a CPU for 95 % of the time',
    );
    expect(generatorWarningOf({ ...second, demandShareMax: 0.97, runDelayShareMax: 0.4 })).toBe(
      'the generator is the limit: an engine thread needs a CPU for 97 % of the time, ' +
        'and waits for one up to 40 %',
    );
  });
});

describe('demandOf', () => {
  it('is the busy share where the platform tells no more', () => {
    expect(demandOf(second)).toBe(0.5);
    expect(demandOf({ ...second, demandShareMax: 0.8 })).toBe(0.8);
  });
});

describe('selfMeasurementOf', () => {
  const gauges = {
    busyShare: 0.5,
    cpuUs: 400_000,
    elapsedUs: 2_000_000,
    runDelayUs: 1_000_000,
    stealShare: 0.1,
    gcPauseUs: 7,
    involuntarySwitches: 3,
    descriptors: 40,
    sendLagMaxUs: 9,
  };

  it('gives shares of the time that was measured', () => {
    expect(selfMeasurementOf(observed({ gauges }))).toEqual({
      busyShare: 0.5,
      cpuShare: 0.2,
      cpuUs: 400_000,
      runDelayShare: 0.5,
      stealShare: 0.1,
      gcPauseUs: 7,
      involuntarySwitches: 3,
      descriptorsMax: 40,
      sendLagMaxUs: 9,
    });
    expect(demandShareOf(observed({ gauges }))).toBeCloseTo(0.7);
  });

  it('leaves out what the platform does not tell', () => {
    const unknown = {
      runDelayUs: -1,
      stealShare: -1,
      gcPauseUs: -1,
      involuntarySwitches: -1,
      descriptors: -1,
    };
    const seen = observed({ gauges: { ...gauges, ...unknown } });
    expect(selfMeasurementOf(seen)).toEqual({
      busyShare: 0.5,
      cpuShare: 0.2,
      cpuUs: 400_000,
      sendLagMaxUs: 9,
    });
    expect(demandShareOf(seen)).toBe(0.5);
  });

  it('measures nothing where no time has passed', () => {
    expect(selfMeasurementOf(observed({}))).toBeUndefined();
    expect(demandShareOf(observed({}))).toBeUndefined();
  });
});

import { gaugeOf, knownGaugeOf, type Observations } from '../metrics/interval.js';
import type { SelfMeasurement } from './report.schema.js';

/**
 * What an engine thread measured of itself over the time that the observations cover, as shares of it.
 * Undefined when it did not run long enough to be measured.
 */
export function selfMeasurementOf(seen: Observations): SelfMeasurement | undefined {
  const elapsedUs = gaugeOf(seen, 'elapsedUs');
  if (!(elapsedUs > 0)) return undefined;
  const runDelayUs = knownGaugeOf(seen, 'runDelayUs');
  const optional = {
    runDelayShare: runDelayUs === undefined ? undefined : runDelayUs / elapsedUs,
    stealShare: knownGaugeOf(seen, 'stealShare'),
    gcPauseUs: knownGaugeOf(seen, 'gcPauseUs'),
    involuntarySwitches: knownGaugeOf(seen, 'involuntarySwitches'),
    descriptorsMax: knownGaugeOf(seen, 'descriptors'),
  };
  const cpuUs = gaugeOf(seen, 'cpuUs');
  return {
    busyShare: gaugeOf(seen, 'busyShare'),
    cpuShare: cpuUs / elapsedUs,
    cpuUs,
    sendLagMaxUs: gaugeOf(seen, 'sendLagMaxUs'),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/**
 * Share of the time in which the thread was busy, or ready to run and without a CPU. Undefined where the
 * readings cover no time, as when several intervals close at once after a stall.
 */
export function demandShareOf(seen: Observations): number | undefined {
  const self = selfMeasurementOf(seen);
  if (self === undefined) return undefined;
  return Math.min(Math.max(self.busyShare, self.cpuShare + (self.runDelayShare ?? 0)), 1);
}

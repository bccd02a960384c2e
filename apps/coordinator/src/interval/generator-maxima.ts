import {
  demandShareOf,
  gaugeOf,
  type Interval,
  knownGaugeOf,
  type Second,
  selfMeasurementOf,
} from '@broadside/shared';

/** The part of a second that says how the engine threads fared: of each reading the worst one. */
type Maxima = Pick<
  Second,
  'demandShareMax' | 'runDelayShareMax' | 'stealShareMax' | 'gcPauseMaxUs' | 'sendLagMaxUs'
>;

/** The rest of a second at the end of a run is too short for shares of it: one delay fills it. */
const LEAST_MEASURED_US = 200_000;

/** What one engine thread measured of itself in an interval; absent what its platform does not tell. */
export function maximaOf(interval: Interval): Maxima {
  const isLong = gaugeOf(interval, 'elapsedUs') >= LEAST_MEASURED_US;
  const self = isLong ? selfMeasurementOf(interval) : undefined;
  return withoutUnknown({
    demandShareMax: isLong ? demandShareOf(interval) : undefined,
    runDelayShareMax: self?.runDelayShare,
    stealShareMax: self?.stealShare,
    gcPauseMaxUs: knownGaugeOf(interval, 'gcPauseUs'),
    sendLagMaxUs: gaugeOf(interval, 'sendLagMaxUs'),
  });
}

/** The worse of two, reading by reading. */
export function worseOf(one: Maxima, other: Maxima): Maxima {
  return withoutUnknown({
    demandShareMax: larger(one.demandShareMax, other.demandShareMax),
    runDelayShareMax: larger(one.runDelayShareMax, other.runDelayShareMax),
    stealShareMax: larger(one.stealShareMax, other.stealShareMax),
    gcPauseMaxUs: larger(one.gcPauseMaxUs, other.gcPauseMaxUs),
    sendLagMaxUs: larger(one.sendLagMaxUs, other.sendLagMaxUs),
  });
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function withoutUnknown(maxima: { [K in keyof Maxima]: number | undefined }): Maxima {
  return Object.fromEntries(Object.entries(maxima).filter(([, value]) => value !== undefined));
}

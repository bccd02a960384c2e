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

/** What one engine thread measured of itself in an interval; absent what its platform does not tell. */
export function maximaOf(interval: Interval): Maxima {
  const self = selfMeasurementOf(interval);
  return withoutUnknown({
    demandShareMax: demandShareOf(interval),
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

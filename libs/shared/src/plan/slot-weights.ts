/** How much of a run each slot gets: as much as it can, compared with the others. */

/** What is known of a slot. */
export interface SlotStrength {
  /** Requests per second that its agent has measured one of its slots to be able to send. */
  readonly capacityHz?: number | undefined;
  /** Given by hand: 2 is twice a usual slot. It wins over what was measured. */
  readonly weight?: number | undefined;
}

/** Weight of a usual slot. Weights are whole tenths of it. */
export const USUAL_WEIGHT = 10;
/**
 * So far from the median, as a part of it, a measurement says nothing: on equal machines the same load costs more or
 * less CPU time, by what runs beside it (docs/MEASUREMENT.md has figures).
 */
const NOISE = 0.25;
const LEAST_WEIGHT = 1;
const MOST_WEIGHT = 100;

/**
 * Weights of slots in tenths of a usual one, which is the median of those that were measured. A slot of which
 * nothing is known counts as that.
 */
export function slotWeights(slots: readonly SlotStrength[]): number[] {
  const usualHz = medianOf(slots.flatMap(({ capacityHz = 0 }) => (capacityHz > 0 ? [capacityHz] : [])));
  return slots.map(({ capacityHz, weight }) => {
    const measured =
      capacityHz === undefined || usualHz === undefined ? 1 : beyondNoise(capacityHz / usualHz);
    const tenths = Math.round((weight ?? measured) * USUAL_WEIGHT);
    return Math.min(Math.max(tenths, LEAST_WEIGHT), MOST_WEIGHT);
  });
}

function beyondNoise(ratio: number): number {
  return Math.abs(ratio - 1) <= NOISE ? 1 : ratio;
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}

/** How much of a run each slot gets: as much as it can, compared with the others. */

/** What is known of a slot. */
export interface SlotStrength {
  /** Requests per second that its agent has measured one of its slots to be able to send. */
  readonly capacityHz?: number | undefined;
  /** Given by hand: 2 is twice a usual slot. It wins over what was measured. */
  readonly weight?: number | undefined;
}

/** Weight of a usual slot. Weights are whole tenths, so that a few percent of noise make no difference. */
export const USUAL_WEIGHT = 10;
const LEAST_WEIGHT = 1;
const MOST_WEIGHT = 100;

/**
 * Weights of slots in tenths of a usual one, which is the median of those that were measured. A slot of which
 * nothing is known counts as that.
 */
export function slotWeights(slots: readonly SlotStrength[]): number[] {
  const usualHz = medianOf(slots.flatMap(({ capacityHz = 0 }) => (capacityHz > 0 ? [capacityHz] : [])));
  return slots.map(({ capacityHz, weight }) => {
    const measured = capacityHz === undefined || usualHz === undefined ? 1 : capacityHz / usualHz;
    const tenths = Math.round((weight ?? measured) * USUAL_WEIGHT);
    return Math.min(Math.max(tenths, LEAST_WEIGHT), MOST_WEIGHT);
  });
}

function medianOf(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? undefined : (lower + upper) / 2;
}

/**
 * The life of an engine, and the only moves that are legal in it. A wrong move is a defect of ours.
 *
 *   created ─► preparing ─► ready ⇄ probing
 *                 │           └─► armed ─► running ─► draining ─► ended
 *                 └───────────────────── every phase ───────────► ended
 */
const MOVES = {
  created: ['preparing'],
  /** Name resolved, policy asked, request encoded. */
  preparing: ['ready', 'ended'],
  /** Everything stands; waits for a command. */
  ready: ['probing', 'armed', 'ended'],
  /** The probe is on its way. */
  probing: ['ready', 'ended'],
  /** The start instant is known and still ahead. */
  armed: ['running', 'ended'],
  running: ['draining', 'ended'],
  /** Time is over: nothing new is sent, what is in flight gets a short grace. */
  draining: ['ended'],
  ended: [],
} as const satisfies Record<string, readonly string[]>;

export type EnginePhase = keyof typeof MOVES;

/** @returns `to`. @throws when the move is not legal. */
export function movePhase(from: EnginePhase, to: EnginePhase): EnginePhase {
  const legal: readonly EnginePhase[] = MOVES[from];
  if (!legal.includes(to)) throw new Error(`engine phase cannot go from ${from} to ${to}`);
  return to;
}

/** When silence means that an agent is lost. Pure. */
export interface AgentSigns {
  /** When anything was last heard of it, in ms of a monotonic clock. */
  readonly lastHeardMs: number;
  /** When its socket closed; absent while it is open. */
  readonly closedAtMs?: number | undefined;
}

export interface LivenessLimits {
  /** Silence on an open socket after which the agent is lost. */
  readonly silenceMs: number;
  /** Time that an agent has to come back after its socket has closed. */
  readonly graceMs: number;
}

/** `away`: the socket has closed a moment ago and the agent may still come back without loss. */
export type Liveness = 'alive' | 'away' | 'lost';

export function livenessOf(signs: AgentSigns, nowMs: number, limits: LivenessLimits): Liveness {
  if (signs.closedAtMs !== undefined) {
    return nowMs - signs.closedAtMs > limits.graceMs ? 'lost' : 'away';
  }
  return nowMs - signs.lastHeardMs > limits.silenceMs ? 'lost' : 'alive';
}

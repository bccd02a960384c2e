/** Typed events inside the coordinator: who receives something does not know who acts on it. */
import { EventEmitter } from 'node:events';
import type { Fatal, Interval, LiveMessage, ProbeResult, ShardAttempt } from '@broadside/shared';

export interface CoordinatorEventMap {
  /** An agent has said hello: for the first time, or again, with the attempts that are still alive on it. */
  'agent-joined': { readonly agentId: string; readonly attempts: readonly ShardAttempt[] };
  /** It did not come back in time, or was silent for too long. */
  'agent-lost': { readonly agentId: string; readonly agentName: string };
  /** Its socket is gone for the moment, or it takes no more shards. */
  'agent-changed': { readonly agentId: string };
  'shard-ready': {
    readonly agentId: string;
    readonly shard: ShardAttempt;
    /** What its agent finds doubtful about its machine. */
    readonly warnings: readonly string[];
  };
  'shard-refused': { readonly agentId: string; readonly shard: ShardAttempt; readonly fatal: Fatal };
  'shard-abandoned': { readonly agentId: string; readonly shard: ShardAttempt; readonly sent: number };
  'shard-probed': { readonly agentId: string; readonly shard: ShardAttempt; readonly result: ProbeResult };
  /** The interval lives until the listener returns: it is added up, not kept. */
  'interval-arrived': { readonly agentId: string; readonly interval: Interval; readonly frame: Uint8Array };
  'live-message': LiveMessage;
  /** A token is good for nothing any more, and whoever is connected with it is to go. */
  'token-ended': { readonly tokenId: string; readonly reason: string };
}

export type CoordinatorEvent = keyof CoordinatorEventMap;

export class CoordinatorEvents {
  readonly #emitter = new EventEmitter();

  on<E extends CoordinatorEvent>(event: E, listener: (what: CoordinatorEventMap[E]) => void): void {
    this.#emitter.on(event, listener);
  }

  emit<E extends CoordinatorEvent>(event: E, what: CoordinatorEventMap[E]): void {
    this.#emitter.emit(event, what);
  }

  removeAll(): void {
    this.#emitter.removeAllListeners();
  }
}

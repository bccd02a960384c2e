/**
 * What a slot and its engine thread tell each other. The orders during a shard (probe, start, stop) are written
 * into the shard's control memory, because a thread that waits in the kernel reads no messages; `wake` only
 * says that there is something to read.
 */

import type { TransportWish } from '@broadside/engine/host';
import type { Fatal, ProbeResult, Shard, ShardResult, TargetPolicyTexts } from '@broadside/shared';

/** One encoded interval (wire/frame.ts) with the slices of run time that it covers. */
export interface IntervalFrame {
  /** First slice covered, 0-based. */
  readonly number: number;
  /** How many slices are covered. */
  readonly span: number;
  /** Of the warm-up; such a frame must not become one with a measured one. */
  readonly isWarmup?: boolean;
  readonly bytes: Uint8Array;
}

/** What a thread is born with. */
export interface ThreadSettings {
  readonly transport: TransportWish;
}

/** Where load may go: what the coordinator says, and what this agent was told itself. Both must allow it. */
export interface TargetPolicies {
  readonly coordinator: TargetPolicyTexts;
  readonly agent: TargetPolicyTexts;
}

/** Slot to thread. One shard at a time: the next is given after `ended` or `refused`. */
export type SlotMessage =
  | {
      readonly kind: 'run';
      readonly shard: Shard;
      readonly policies: TargetPolicies;
      readonly control: SharedArrayBuffer;
    }
  | { readonly kind: 'wake' };

/** Thread to slot. The bytes of an interval are moved, not copied. */
export type ThreadMessage =
  /** Everything is loaded. The note says why a faster transport, or the one asked for, is not used. */
  | { readonly kind: 'up'; readonly note?: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly fatal: Fatal }
  | { readonly kind: 'probed'; readonly result: ProbeResult }
  | { readonly kind: 'interval'; readonly frame: IntervalFrame }
  | { readonly kind: 'ended'; readonly result: ShardResult }
  /** The engine threw: a defect of ours. The thread must not be used again. */
  | { readonly kind: 'failed'; readonly message: string };

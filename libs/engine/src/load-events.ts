import type { Fatal } from '@broadside/shared/engine';

/** What a load tells the engine besides numbers. */
export interface LoadEvents {
  /** The probe has its outcome: a complete reply, or the failure. */
  onProbed(outcome: ProbeOutcome): void;
  /** The load cannot or must not go on; nothing more is taken up after this call. */
  onFatal(fatal: Fatal): void;
}

export interface ProbeOutcome {
  readonly tookUs: number;
  readonly status: number;
  readonly bodyBytes: number;
  /** Absent when the reply was complete, whatever its status. */
  readonly fatal?: Fatal;
}

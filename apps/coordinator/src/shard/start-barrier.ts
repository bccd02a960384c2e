/**
 * The common start of all shards of a run: who is ready, whether the probe comes first, and when to give up.
 * Pure: it says what to do next, and somebody else does it.
 */
import { LIMITS } from '@broadside/shared';

export interface StartBarrierOptions {
  readonly shardCount: number;
  /** Whether shard 0 sends the probe before the others start. */
  readonly wantsProbe: boolean;
}

/** What is to be done now; each of `probe` and `start` is said exactly once. */
export type BarrierStep = 'wait' | 'probe' | 'start';

export class StartBarrier {
  readonly #shardCount: number;
  readonly #ready = new Set<number>();
  #probe: 'wanted' | 'sent' | 'done';
  #isOpen = false;

  constructor(options: StartBarrierOptions) {
    this.#shardCount = options.shardCount;
    this.#probe = options.wantsProbe ? 'wanted' : 'done';
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get areAllReady(): boolean {
    return this.#ready.size === this.#shardCount;
  }

  /** A slot holds the shard. Said again after a broken socket it changes nothing. */
  ready(shardIndex: number): BarrierStep {
    if (this.#ready.has(shardIndex)) return 'wait';
    this.#ready.add(shardIndex);
    return this.#step();
  }

  /** It was open already when an earlier coordinator ended. */
  openNow(): void {
    for (let shardIndex = 0; shardIndex < this.#shardCount; shardIndex++) this.#ready.add(shardIndex);
    this.#probe = 'done';
    this.#isOpen = true;
  }

  /** The slot is gone before the start; another one will hold the shard. */
  lost(shardIndex: number): void {
    if (this.#isOpen) return;
    this.#ready.delete(shardIndex);
    // What came of a probe that is on its way will never be known.
    if (shardIndex === 0 && this.#probe === 'sent') this.#probe = 'wanted';
  }

  /** The probe has an outcome that lets the run go on. It may have been an earlier coordinator that asked for it. */
  probed(): BarrierStep {
    if (this.#probe === 'done' || !this.#ready.has(0)) return 'wait';
    this.#probe = 'done';
    return this.#step();
  }

  #step(): BarrierStep {
    if (this.#isOpen || !this.areAllReady || this.#probe === 'sent') return 'wait';
    if (this.#probe === 'wanted') {
      this.#probe = 'sent';
      return 'probe';
    }
    this.#isOpen = true;
    return 'start';
  }

  /** Shards that are not ready, in rising order. */
  missing(): number[] {
    return Array.from({ length: this.#shardCount }, (_, i) => i).filter((i) => !this.#ready.has(i));
  }
}

/**
 * The start instant in µs of the coordinator's clock: late enough for the slowest way to an agent, and for
 * the worst known clock, which is not trusted beyond one second.
 */
export function startInstantUs(nowUs: number, delayMs: number, uncertaintiesUs: readonly number[]): number {
  const MAX_UNCERTAINTY_US = 1_000_000;
  const worstUs = uncertaintiesUs.reduce((most, us) => Math.max(most, us), 0);
  // Whole ms, because the store keeps times no finer and a restarted coordinator goes on with this instant.
  return Math.ceil((nowUs + Math.min(worstUs, MAX_UNCERTAINTY_US)) / 1_000 + delayMs) * 1_000;
}

/**
 * The instant at which all agents end their load because somebody wants that, in µs of the coordinator's clock: as
 * near as the order can be everywhere. A bad clock is waited for less than at the start: whoever stops a run wants
 * it to stop.
 */
export function stopInstantUs(nowUs: number, uncertaintiesUs: readonly number[]): number {
  const MAX_UNCERTAINTY_US = 100_000;
  const worstUs = uncertaintiesUs.reduce((most, us) => Math.max(most, us), 0);
  return Math.ceil(nowUs + Math.min(worstUs, MAX_UNCERTAINTY_US) + LIMITS.stopDelayMs * 1_000);
}

/**
 * The slice of the run from which the time of an attempt counts that takes over at an instant of run time: the one
 * that is going on, so that its intervals are slices of the run. Slice 0 belongs to those that begin with the run.
 */
export function laterSlice(runMs: number): number {
  return Math.max(Math.floor(runMs / LIMITS.intervalMs), 1);
}

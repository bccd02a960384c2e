/**
 * The common start of all shards of a run: who is ready, whether the probe comes first, and when to give up.
 * Pure: it says what to do next, and somebody else does it.
 */
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
  #phase: 'gathering' | 'probing' | 'open';
  readonly #wantsProbe: boolean;

  constructor(options: StartBarrierOptions) {
    this.#shardCount = options.shardCount;
    this.#wantsProbe = options.wantsProbe;
    this.#phase = 'gathering';
  }

  get isOpen(): boolean {
    return this.#phase === 'open';
  }

  isReady(shardIndex: number): boolean {
    return this.#ready.has(shardIndex);
  }

  /** A slot holds the shard. Said again after a broken socket it changes nothing. */
  ready(shardIndex: number): BarrierStep {
    this.#ready.add(shardIndex);
    if (this.#phase !== 'gathering' || this.#ready.size < this.#shardCount) return 'wait';
    this.#phase = this.#wantsProbe ? 'probing' : 'open';
    return this.#wantsProbe ? 'probe' : 'start';
  }

  /** The probe has an outcome that lets the run go on. */
  probed(): BarrierStep {
    if (this.#phase !== 'probing') return 'wait';
    this.#phase = 'open';
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
  return Math.ceil(nowUs + delayMs * 1_000 + Math.min(worstUs, MAX_UNCERTAINTY_US));
}

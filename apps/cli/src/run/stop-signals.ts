import { EXIT, type ExitCode } from '@broadside/shared';

export type StopSignal = 'SIGINT' | 'SIGTERM';

/** Exit code of a command that a signal ended. */
export function exitCodeOfSignal(signal: StopSignal): ExitCode {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated;
}

/**
 * SIGINT and SIGTERM for one command: the first one asks for an orderly end, the second one leaves at once.
 * The handlers stay until `dispose`, so that a signal during the report does not cut it off.
 */
export class StopSignals {
  readonly #exitCodeOf: (signal: StopSignal) => number;
  readonly #listeners = new Set<() => void>();
  #first: StopSignal | undefined;
  #onSecond: () => void = () => undefined;

  constructor(exitCodeOf: (signal: StopSignal) => number = exitCodeOfSignal) {
    this.#exitCodeOf = exitCodeOf;
    process.on('SIGINT', this.#take);
    process.on('SIGTERM', this.#take);
  }

  /** The first signal, once it came. */
  get received(): StopSignal | undefined {
    return this.#first;
  }

  /** Exit code of the command for the first signal, once it came. */
  get exitCode(): number | undefined {
    return this.#first === undefined ? undefined : this.#exitCodeOf(this.#first);
  }

  /** Calls back at the first signal, at once if it came already. */
  onFirst(listener: () => void): void {
    if (this.#first === undefined) this.#listeners.add(listener);
    else listener();
  }

  /** Calls back right before the second signal ends the process; whatever it writes must be written at once. */
  onSecond(listener: () => void): void {
    this.#onSecond = listener;
  }

  dispose(): void {
    process.off('SIGINT', this.#take);
    process.off('SIGTERM', this.#take);
    this.#listeners.clear();
  }

  readonly #take = (signal: NodeJS.Signals): void => {
    const stop: StopSignal = signal === 'SIGTERM' ? 'SIGTERM' : 'SIGINT';
    if (this.#first !== undefined) {
      this.#onSecond();
      process.exit(this.#exitCodeOf(stop));
    }
    this.#first = stop;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  };
}

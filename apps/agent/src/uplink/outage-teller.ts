/** Outages are told at most this often. */
const QUIET_US = 10_000_000;

export interface OutageTellerOptions {
  /** Writes one line. */
  readonly tell: (line: string) => void;
  readonly nowUs: () => number;
}

/**
 * One line when a connection is lost and one when it is back, however often it is tried meanwhile; and where it
 * comes and goes all the time, one pair in ten seconds with the number of losses. `lost` is to be called at every
 * failed attempt, so that what was held back is told by a later one.
 */
export class OutageTeller {
  readonly #options: OutageTellerOptions;
  /** The reason that was told last, while the outage lasts. */
  #told: string | undefined;
  #isLost = false;
  #wasThere = false;
  #sinceUs = 0;
  #toldAtUs = Number.NEGATIVE_INFINITY;
  /** Losses that were not told. */
  #held = 0;

  constructor(options: OutageTellerOptions) {
    this.#options = options;
  }

  /**
   * @param reason one line.
   * @param isRare it is tried again so seldom that a new reason need not wait for the next attempt.
   */
  lost(reason: string, isRare = false): void {
    const nowUs = this.#options.nowUs();
    if (!this.#isLost) {
      this.#isLost = true;
      this.#sinceUs = nowUs;
      this.#held++;
    }
    if (this.#told === reason || (!isRare && nowUs - this.#toldAtUs < QUIET_US)) return;
    const times = this.#held > 1 ? ` (lost ${this.#held} times)` : '';
    this.#options.tell(`${reason}${times}; trying again`);
    this.#told = reason;
    this.#toldAtUs = nowUs;
    this.#held = 0;
  }

  /** It is there: for the first time, or again. */
  back(what: string): void {
    if (this.#told !== undefined) {
      const seconds = Math.round((this.#options.nowUs() - this.#sinceUs) / 100_000) / 10;
      this.#options.tell(
        this.#wasThere ? `${what} is back after ${seconds} s` : `reached ${what} after ${seconds} s`,
      );
    }
    this.#wasThere = true;
    this.#isLost = false;
    this.#told = undefined;
  }
}

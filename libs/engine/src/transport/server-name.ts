/** Longest `Server` value that is kept; what is longer is cut. */
const MAX_SERVER_NAME_LENGTH = 128;

/**
 * The target's name for itself: the `Server` value of the first reply that has one, up to its first blank
 * (what `ab` prints as Server Software). One object is shared by all parsers of a shard, so that after the
 * first capture no parser spends time on the field again.
 */
export class ServerName {
  #value = '';
  #isKnown = false;

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Empty until a reply had a `Server` field. */
  get value(): string {
    return this.#value;
  }

  capture(value: string): void {
    if (this.#isKnown || value === '') return;
    this.#value = value.slice(0, MAX_SERVER_NAME_LENGTH);
    this.#isKnown = true;
  }
}

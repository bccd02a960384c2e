/** Where a load gets its requests from: it says when the next one may be sent, and keeps the books of planning. */
export interface RequestSource {
  /** When the next request is due, in µs of the engine's clock: −Infinity for at once, Infinity for never. */
  readonly nextUs: number;
  /** Nothing will be taken any more. */
  readonly isExhausted: boolean;
  /** True when requests have planned times, so that a connection may be free with nothing to send. */
  readonly isPaced: boolean;
  /**
   * The load begins: planned times count from `startUs`.
   * @param fromUs what is planned before this instant is somebody else's.
   */
  begin(startUs: number, fromUs: number): void;
  /** The warm-up is over: from here on everything counts, and the budget is used. */
  beginMeasured(atUs: number): void;
  /** Takes the request that is sent alone before the start. @returns false when the budget is 0. */
  takeProbe(nowUs: number): boolean;
  /**
   * Takes a request that is due.
   * @param hasWaited whether it was due before and no connection was free.
   * @returns its planned time; −1 when none is due.
   */
  take(nowUs: number, hasWaited: boolean): number;
  /** Books what is due until then and not sent yet as planned: an interval ends. */
  countDue(untilUs: number): void;
  /** Gives up what has waited for a connection longer than a request may take. */
  giveUp(nowUs: number): void;
  /** Nothing can be taken after this. What is left must still be booked. */
  stop(): void;
  /**
   * As `stop`, and what is left is booked.
   * @param counter the reason. @param isStarved whether what is due waits for a connection, which then is the reason.
   */
  close(nowUs: number, counter: number, isStarved: boolean): void;
}

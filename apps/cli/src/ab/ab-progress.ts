import { abProgressLine, abProgressStep } from '@broadside/shared';

/** A bound for the lines of one call: a slow terminal must not hold up the run. */
const MAX_LINES_AT_ONCE = 1_000;

/** Turns a growing count of ended requests into `ab`'s lines, one for each step that was passed. */
export class AbProgress {
  readonly #step: number;
  #shown = 0;

  constructor(requests: number | undefined) {
    this.#step = abProgressStep(requests);
  }

  /** @param done requests ended so far; a smaller number than before is ignored. */
  linesUpTo(done: number): string[] {
    const last = Math.floor(done / this.#step) * this.#step;
    const lines: string[] = [];
    let next = Math.max(this.#shown + this.#step, last - (MAX_LINES_AT_ONCE - 1) * this.#step);
    for (; next <= last; next += this.#step) lines.push(abProgressLine(next));
    this.#shown = Math.max(this.#shown, last);
    return lines;
  }
}

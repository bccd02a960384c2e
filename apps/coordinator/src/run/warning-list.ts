/** As many as a live message holds; hundreds of machines of one kind have the same weakness. */
export const MAX_WARNINGS = 32;

/**
 * Warnings of a run, each once. Every shard of an agent is checked when it comes, together with those that came
 * before it: the same sentence comes with growing numbers, and the largest are those of all shards together.
 */
export class WarningList {
  readonly #ofKind = new Map<string, string>();

  /** @param warning one sentence, the agent's name not included. */
  add(agentName: string, warning: string): void {
    const kind = `${agentName}: ${warning.replaceAll(NUMBERS, '#').replace(/\bslots?( wants?)?\b/g, 'slot')}`;
    const before = this.#ofKind.get(kind);
    if (before === undefined && this.#ofKind.size >= MAX_WARNINGS) return;
    const line = `${agentName}: ${warning}`;
    const start = agentName.length;
    if (before === undefined || isLarger(line.slice(start), before.slice(start)))
      this.#ofKind.set(kind, line);
  }

  /** Takes up lines as `list` gave them. The kind of one that comes again is not known any more. */
  restore(lines: readonly string[]): void {
    for (const line of lines) this.#ofKind.set(line, line);
  }

  list(): string[] {
    return [...this.#ofKind.values()];
  }
}

/** Digits with their commas, fraction and unit of bytes. */
const NUMBERS = /\d[\d,]*(?:\.\d+)?(?:[KMGT]?i?B\b)?/g;

/** By the first number in which they differ. */
function isLarger(one: string, other: string): boolean {
  const others = numbersIn(other);
  for (const [i, value] of numbersIn(one).entries()) {
    const against = others[i] ?? value;
    if (value !== against) return value > against;
  }
  return false;
}

const UNIT_BYTES: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

function numbersIn(text: string): number[] {
  return (text.match(NUMBERS) ?? []).map((found) => {
    const unit = /([KMGT])i?B$/.exec(found)?.[1] ?? '';
    return Number.parseFloat(found.replaceAll(',', '')) * (UNIT_BYTES[unit] ?? 1);
  });
}

import { formatCount } from '../units.js';

/** Begins a line about one shard, as the coordinator writes it. */
const SHARD_NAME = /^shard \d+ \(attempt \d+, agent .*?\)(?=: )/;
const NUMBERS = /\d+(?:,\d{3})*/g;

/**
 * Lines that say the same of several shards, as one: the first of them, and how many more there are. What a broken
 * agent did to each of its shards would hide everything else.
 */
export function collapsedLines(lines: readonly string[]): string[] {
  const kinds = new Map<string, { readonly first: string; count: number }>();
  for (const line of lines) {
    const isOfShard = SHARD_NAME.test(line);
    const kind = isOfShard ? line.replace(SHARD_NAME, 'shard').replace(NUMBERS, '#') : line;
    const known = kinds.get(kind);
    if (known === undefined) kinds.set(kind, { first: line, count: 1 });
    else known.count++;
  }
  return [...kinds.values()].map(({ first, count }) =>
    count === 1
      ? first
      : `${first}; and so for ${formatCount(count - 1)} more ${count === 2 ? 'line' : 'lines'} like it`,
  );
}

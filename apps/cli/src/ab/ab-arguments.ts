/** One step of the option scanner: an option of `ab`, a long one of ours, or the end of the options. */
export type AbArgument =
  | { readonly kind: 'short'; readonly letter: string; readonly value: string }
  | { readonly kind: 'long'; readonly name: string; readonly value: string }
  | { readonly kind: 'illegal'; readonly letter: string }
  | { readonly kind: 'missing'; readonly option: string }
  | { readonly kind: 'unknownLong'; readonly name: string }
  | { readonly kind: 'rest'; readonly values: readonly string[] };

export interface AbGrammar {
  /** Letters, each followed by a colon where it wants a value: `n:c:k`. */
  readonly letters: string;
  /** Long options with a value, and without one. */
  readonly longWithValue: readonly string[];
  readonly longAlone: readonly string[];
}

/**
 * Scans a command line as `ab` does: short options in clusters, values attached or apart, no permutation
 * (everything after the first word that is no option is positional), `--` ends the options. Long options are
 * ours and may stand among them. The last item is always `rest`, unless scanning stopped at a mistake.
 */
export function scanAbArguments(words: readonly string[], grammar: AbGrammar): AbArgument[] {
  const found: AbArgument[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at] ?? '';
    if (word === '--') {
      at += 1;
      break;
    }
    if (!word.startsWith('-') || word === '-') break;
    const next = words[at + 1];
    const { items, usedNext } = word.startsWith('--')
      ? scanLong(word.slice(2), next, grammar)
      : scanCluster(word.slice(1), next, grammar);
    found.push(...items);
    if (items.some((item) => isMistake(item))) return found;
    at += usedNext ? 2 : 1;
  }
  found.push({ kind: 'rest', values: words.slice(at) });
  return found;
}

interface Scanned {
  readonly items: AbArgument[];
  readonly usedNext: boolean;
}

function isMistake(item: AbArgument): boolean {
  return item.kind === 'illegal' || item.kind === 'missing' || item.kind === 'unknownLong';
}

function scanLong(text: string, next: string | undefined, grammar: AbGrammar): Scanned {
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  if (grammar.longAlone.includes(name) && equals === -1) {
    return { items: [{ kind: 'long', name, value: '' }], usedNext: false };
  }
  if (!grammar.longWithValue.includes(name)) {
    return { items: [{ kind: 'unknownLong', name }], usedNext: false };
  }
  if (equals !== -1) {
    return { items: [{ kind: 'long', name, value: text.slice(equals + 1) }], usedNext: false };
  }
  if (next === undefined) return { items: [{ kind: 'missing', option: `-${name}` }], usedNext: false };
  return { items: [{ kind: 'long', name, value: next }], usedNext: true };
}

function scanCluster(cluster: string, next: string | undefined, grammar: AbGrammar): Scanned {
  const items: AbArgument[] = [];
  for (let i = 0; i < cluster.length; i++) {
    const letter = cluster.charAt(i);
    const position = letter === ':' ? -1 : grammar.letters.indexOf(letter);
    if (position === -1) return { items: [...items, { kind: 'illegal', letter }], usedNext: false };
    if (grammar.letters[position + 1] !== ':') {
      items.push({ kind: 'short', letter, value: '' });
      continue;
    }
    const attached = cluster.slice(i + 1);
    if (attached !== '')
      return { items: [...items, { kind: 'short', letter, value: attached }], usedNext: false };
    if (next === undefined)
      return { items: [...items, { kind: 'missing', option: letter }], usedNext: false };
    return { items: [...items, { kind: 'short', letter, value: next }], usedNext: true };
  }
  return { items, usedNext: false };
}

/** C's `atoi`: leading blanks and a sign, then digits up to the first other character; garbage is 0. */
export function atoi(text: string): number {
  const match = /^[ \t\n\v\f\r]*([+-]?\d+)/.exec(text);
  return match === null ? 0 : Number(match[1]);
}

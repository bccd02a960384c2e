// Lines of a printf-made report, written as templates: literal text with fields such as {failed:int},
// {mean:intw4} (right-aligned, at least 4 wide), {seconds:fixed3} or {sd:fixed1w5}. One template serves both
// ways: it reads the values of a line, strictly, and it names the shape that every such line has.

const FIELD = /\{([A-Za-z0-9.]+):(text|int|fixed\d)(?:w(\d+))?\}/g;

interface Field {
  readonly name: string;
  readonly isNumber: boolean;
  /** Least width, right-aligned; 0 for a value that simply follows. */
  readonly width: number;
}

export class LineTemplate {
  /** The template with its field names left out: the same for every line that matches. */
  readonly shape: string;
  readonly #pattern: RegExp;
  readonly #fields: readonly Field[];

  constructor(template: string) {
    const fields: Field[] = [];
    let pattern = '^';
    let shape = '';
    let end = 0;
    for (const match of template.matchAll(FIELD)) {
      const [whole, name = '', kind = '', width] = match;
      const literal = template.slice(end, match.index);
      pattern += escape(literal) + valuePattern(kind);
      shape += `${literal}{${kind}${width === undefined ? '' : `w${width}`}}`;
      fields.push({ name, isNumber: kind !== 'text', width: Number(width ?? 0) });
      end = match.index + whole.length;
    }
    this.#pattern = new RegExp(`${pattern}${escape(template.slice(end))}$`);
    this.#fields = fields;
    this.shape = shape + template.slice(end);
  }

  /** Name to text of every field, or undefined when the line differs anywhere, a single blank included. */
  match(line: string): ReadonlyMap<string, string> | undefined {
    const found = this.#pattern.exec(line);
    if (found === null) return undefined;
    const values = new Map<string, string>();
    for (const [index, { name, isNumber, width }] of this.#fields.entries()) {
      const padded = found[index + 1] ?? '';
      const value = isNumber ? padded.trimStart() : padded;
      if (padded !== value.padStart(width)) return undefined;
      values.set(name, value);
    }
    return values;
  }
}

function valuePattern(kind: string): string {
  if (kind === 'text') return '(.*?)';
  if (kind === 'int') return '( *-?\\d+)';
  return `( *-?\\d+\\.\\d{${kind.slice('fixed'.length)}})`;
}

function escape(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

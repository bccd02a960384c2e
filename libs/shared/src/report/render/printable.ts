/**
 * Text from outside (a target's header, an agent's name) for a terminal: control characters, which could move
 * the cursor or change colours, become question marks.
 */
export function printable(text: string): string {
  let clean = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    clean += code < 0x20 || (code >= 0x7f && code < 0xa0) ? '?' : character;
  }
  return clean;
}

/**
 * Breaks a sentence at blanks into lines of at most `width` columns; the second and later ones are indented.
 * A word that is longer than a line (a long path) is cut. An infinite width breaks nothing.
 */
export function wrapped(text: string, width: number, indent: string): string[] {
  if (width === Number.POSITIVE_INFINITY) return [printable(text)];
  const longest = Math.max(1, width - indent.length);
  const words = printable(text)
    .split(' ')
    .flatMap((word) => word.match(new RegExp(`.{1,${longest}}`, 'gsu')) ?? ['']);
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of words) {
    if (line === undefined) {
      line = word;
    } else if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = `${line} ${word}`;
    }
  }
  return [...lines, line ?? ''];
}

/** Columns of a text with labels to the left; `indent` is that of the second and later lines of one text. */
export interface LabelledLayout {
  readonly labelWidth: number;
  readonly width: number;
  readonly indent?: string;
}

/** A label, and each text on lines of its own beside it. Nothing for no texts. */
export function labelled(label: string, texts: readonly string[], layout: LabelledLayout): string[] {
  const { labelWidth, width, indent = '' } = layout;
  return texts.flatMap((text, i) => {
    const start = (i === 0 ? label : '').padEnd(labelWidth);
    const [first = '', ...more] = wrapped(text, width - labelWidth, indent);
    return [`${start}${first}`, ...more.map((line) => `${' '.repeat(labelWidth)}${line}`)];
  });
}

/**
 * Columns padded to their widest cell, two blanks between them; the first column to the left, others right. Columns
 * that do not fit beside the others follow below, with the first one repeated: a line that a terminal breaks cannot
 * be read.
 */
export function table(rows: readonly (readonly string[])[], width = Number.POSITIVE_INFINITY): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return columnBlocks(widths, width).flatMap((columns, block) => [
    ...(block === 0 ? [] : ['']),
    ...rows.map((row) =>
      columns
        .map((i) =>
          i === 0 ? (row[i] ?? '').padEnd(widths[i] ?? 0) : (row[i] ?? '').padStart(widths[i] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    ),
  ]);
}

/** Which columns stand beside each other: the first one, and as many others as fit, but one at least. */
function columnBlocks([first = 0, ...others]: readonly number[], width: number): number[][] {
  const blocks = [[0]];
  let used = first;
  for (const [i, own] of others.entries()) {
    let block = blocks.at(-1) ?? [];
    if (block.length > 1 && used + 2 + own > width) {
      block = [0];
      blocks.push(block);
      used = first;
    }
    block.push(i + 1);
    used += 2 + own;
  }
  return blocks;
}

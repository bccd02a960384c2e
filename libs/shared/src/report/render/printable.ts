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

/** Breaks a sentence at blanks into lines of at most `width` columns; the second and later ones are indented. */
export function wrapped(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of printable(text).split(' ')) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Columns padded to their widest cell, two blanks between them; the first column to the left, others right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

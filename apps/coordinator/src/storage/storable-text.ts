/**
 * Text that Postgres can hold: its text and jsonb know neither U+0000 nor half a surrogate pair, and what targets,
 * proxies and agents say may have both. They become U+FFFD, as in every decoder that meets what it cannot read.
 */
export function storableText(text: string): string {
  return text.replace(UNSTORABLE, '\ufffd');
}

/** In unicode mode a surrogate is only one that has no other half. */
const UNSTORABLE = /\p{Surrogate}|\0/gu;

/** Whether the texts of a value are kept as they are. */
export function isStorable(value: unknown): boolean {
  return JSON.stringify(value) === storableJson(value);
}

/** JSON of a value whose texts are storable. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? storableText(part) : part,
  );
}

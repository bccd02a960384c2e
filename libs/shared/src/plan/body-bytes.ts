/** The two forms of a body in a plan or a shard; at most one of them is there. */
export interface BodyForms {
  readonly body?: string | undefined;
  readonly bodyBase64?: string | undefined;
}

/** Length in bytes of the request body as it goes on the wire. */
export function bodyBytesOf({ body, bodyBase64 }: BodyForms): number {
  if (bodyBase64 !== undefined) {
    const padding = bodyBase64.endsWith('==') ? 2 : bodyBase64.endsWith('=') ? 1 : 0;
    return (bodyBase64.length / 4) * 3 - padding;
  }
  return utf8Bytes(body ?? '');
}

/** UTF-8 length; a lone surrogate becomes the three bytes of U+FFFD, as every encoder does it. */
export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}

import type { Plan } from './plan.schema.js';

/** Length in bytes of the request body of a plan, as it goes on the wire. */
export function bodyBytesOf(plan: Pick<Plan, 'body' | 'bodyBase64'>): number {
  if (plan.bodyBase64 !== undefined) {
    const padding = plan.bodyBase64.endsWith('==') ? 2 : plan.bodyBase64.endsWith('=') ? 1 : 0;
    return (plan.bodyBase64.length / 4) * 3 - padding;
  }
  return utf8Bytes(plan.body ?? '');
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

import { z } from 'zod';
import { LIMITS } from '../limits.js';

/** Name and value alike, so that `name=value` reads back as it was written. */
const WORD = /^[0-9A-Za-z](?:[0-9A-Za-z._/-]{0,61}[0-9A-Za-z])?$/;
const WORD_HINT = 'must be 1 to 63 letters, digits or ._/- between them';

/** What an agent is marked with, and what a plan asks for: one value for each name. */
export const labelsSchema = z
  .record(z.string().regex(WORD, WORD_HINT), z.string().regex(WORD, WORD_HINT))
  .refine((labels) => Object.keys(labels).length <= LIMITS.maxLabels, {
    message: `must be at most ${LIMITS.maxLabels} labels`,
  });
export type Labels = Readonly<Record<string, string>>;

/** Whether something with these labels is in the pool of a plan that asks for `wanted`: it has them all. */
export function hasLabels(labels: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => Object.hasOwn(labels, name) && labels[name] === value,
  );
}

/** `disk=fast, zone=eu`: in the order of the names, so that equal labels are equal texts. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join(', ');
}

/**
 * Reads labels as they are typed.
 * @returns the labels, or what is wrong with the first text that is none.
 */
export function parseLabels(texts: readonly string[]): Labels | string {
  const labels: Record<string, string> = {};
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 0) return `${JSON.stringify(text)}: must be name=value, like zone=eu`;
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    if (!WORD.test(name) || !WORD.test(value)) {
      return `${JSON.stringify(text)}: name and value ${WORD_HINT}`;
    }
    if (Object.hasOwn(labels, name)) return `${JSON.stringify(text)}: ${name} is given twice`;
    labels[name] = value;
  }
  const count = Object.keys(labels).length;
  return count > LIMITS.maxLabels ? `${count} labels; at most ${LIMITS.maxLabels} are taken` : labels;
}

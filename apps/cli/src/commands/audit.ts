import { EXIT, LIMITS } from '@broadside/shared';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/audit.help.js';
import { auditTable } from '../output/audit-text.js';
import { writeOut } from '../output/streams.js';

export const FLAGS = {
  ...CLIENT_FLAGS,
  limit: { type: 'string' },
  before: { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** `broadside audit`. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('audit', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('audit', positionals);
  const limit = wholeNumberFlag('--limit', values.limit, { least: 1, most: LIMITS.maxAuditPage });
  const before = wholeNumberFlag('--before', values.before, { least: 1, most: Number.MAX_SAFE_INTEGER });
  const entries = await (await clientOf(values)).readAudit({ limit, before });
  await writeOut(values.json === true ? `${JSON.stringify(entries, null, 2)}\n` : auditTable(entries));
  return EXIT.ok;
}

import { z } from 'zod';
import { tokenRoleSchema } from '../access/role.js';
import { LIMITS } from '../limits.js';

/** One line of the audit log. */
export const auditEntrySchema = z.object({
  /** Rises with every line. */
  id: z.int().min(1),
  at: z.string(),
  /** Such as `run.create`; later versions may have more. */
  action: z.string(),
  /** Absent where nobody was recognised. */
  who: z.object({ tokenId: z.string(), name: z.string(), role: tokenRoleSchema }).optional(),
  address: z.string(),
  /** Id of the run or the token that it was done to. */
  subject: z.string().optional(),
  /** `done`, or the code of the refusal. */
  result: z.string(),
  detail: z.record(z.string(), z.string()),
  /** Times that it happened; more than 1 only for what is gathered. */
  count: z.int().min(1),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;

/** What `GET` of the audit log is asked: so many lines, the newest first, older than one. */
export const auditQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(LIMITS.maxAuditPage).default(100),
  before: z.coerce.number().int().min(1).optional(),
});
export type AuditQuery = z.infer<typeof auditQuerySchema>;

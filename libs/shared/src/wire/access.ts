/** What REST says of tokens, tickets and the audit log. No answer but the first one about a token holds its text. */
import { z } from 'zod';
import { tokenRoleSchema } from '../access/role.js';
import { LIMITS } from '../limits.js';

export const tokenIdSchema = z.string().regex(/^[0-9a-z-]{1,64}$/, 'not a token id');

/** For people: where it was left, who holds it. */
const tokenNameSchema = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(LIMITS.maxTokenNameLength, `must be at most ${LIMITS.maxTokenNameLength} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Surrogate}\u2028\u2029]*$/u, 'must not hold control characters');

export const createTokenSchema = z.strictObject({
  name: tokenNameSchema,
  role: tokenRoleSchema,
  /** Absent: until it is revoked. */
  expiresInMs: z
    .int()
    .min(LIMITS.minTokenLifeMs, `must be at least ${LIMITS.minTokenLifeMs} ms`)
    .max(LIMITS.maxTokenLifeMs, `must be at most ${LIMITS.maxTokenLifeMs} ms`)
    .optional(),
});
export type CreateToken = z.infer<typeof createTokenSchema>;

export const tokenSummarySchema = z.object({
  id: tokenIdSchema,
  name: z.string(),
  role: tokenRoleSchema,
  /** Made by the coordinator and kept in its store, or given to it at its start. */
  source: z.enum(['made', 'given']),
  state: z.enum(['valid', 'expired', 'revoked']),
  createdAt: z.string(),
  expiresAt: z.string().optional(),
  /** Within a minute. */
  lastUsedAt: z.string().optional(),
  revokedAt: z.string().optional(),
});
export type TokenSummary = z.infer<typeof tokenSummarySchema>;

export const createdTokenSchema = tokenSummarySchema.extend({
  /** The only time that it is told. */
  token: z.string(),
});
export type CreatedToken = z.infer<typeof createdTokenSchema>;

/** Lets a browser open one live stream: it cannot send a header with a WebSocket. */
export const ticketSchema = z.object({
  /** To be offered as a subprotocol beside LIVE_PROTOCOL. */
  protocol: z.string(),
  expiresAt: z.string(),
});
export type Ticket = z.infer<typeof ticketSchema>;

/** Subprotocol of the live stream. A client that sends its token in a header need not name it. */
export const LIVE_PROTOCOL = 'broadside.live';

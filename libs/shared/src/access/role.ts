import { z } from 'zod';

/** Roles of people and their programs, each able to do what those before it can. */
export const USER_ROLES = ['viewer', 'operator', 'admin'] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** Role of the token that an agent shows. It stands outside of the others: neither can pass for the other. */
export const AGENT_ROLE = 'agent';

export const tokenRoleSchema = z.enum([...USER_ROLES, AGENT_ROLE]);
export type TokenRole = z.infer<typeof tokenRoleSchema>;

/** Whether a token of this role may do what needs that role. */
export function mayActAs(role: TokenRole, needed: TokenRole): boolean {
  if (role === AGENT_ROLE || needed === AGENT_ROLE) return role === needed;
  return USER_ROLES.indexOf(role) >= USER_ROLES.indexOf(needed);
}

/**
 * Who may use which door: the one table. What is not in it is served to nobody, so a new route needs its line here
 * (access/route-roles.test.ts walks through all of them).
 */
import { ROUTES, type TokenRole } from '@broadside/shared';
import type { AuditAction } from '../audit/audit-log.js';

export interface RouteRole {
  /** `UPGRADE` is a WebSocket. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'UPGRADE';
  /** `:name` stands for one part of the path, a last `*` for whatever follows. */
  readonly path: string;
  readonly needs: TokenRole | 'nothing';
  /** What the audit log calls it; every door that a token for people may be too little for has one. */
  readonly action?: AuditAction;
}

export const ROUTE_ROLES: readonly RouteRole[] = [
  { method: 'GET', path: ROUTES.healthz, needs: 'nothing' },
  { method: 'GET', path: ROUTES.readyz, needs: 'nothing' },
  { method: 'GET', path: ROUTES.openApi, needs: 'nothing' },
  { method: 'GET', path: `${ROUTES.openApi}/*`, needs: 'nothing' },
  { method: 'GET', path: ROUTES.runs, needs: 'viewer' },
  { method: 'GET', path: `${ROUTES.runs}/:id`, needs: 'viewer' },
  { method: 'GET', path: ROUTES.agents, needs: 'viewer' },
  { method: 'POST', path: ROUTES.tickets, needs: 'viewer' },
  { method: 'UPGRADE', path: ROUTES.live, needs: 'viewer' },
  { method: 'POST', path: ROUTES.runs, needs: 'operator', action: 'run.create' },
  { method: 'DELETE', path: `${ROUTES.runs}/:id`, needs: 'operator', action: 'run.stop' },
  { method: 'GET', path: ROUTES.kill, needs: 'viewer' },
  // Whoever may fire may stop everything; to let load in again is another matter.
  { method: 'POST', path: ROUTES.kill, needs: 'operator', action: 'kill' },
  { method: 'DELETE', path: ROUTES.kill, needs: 'admin', action: 'kill.release' },
  { method: 'GET', path: ROUTES.tokens, needs: 'admin', action: 'token.list' },
  { method: 'POST', path: ROUTES.tokens, needs: 'admin', action: 'token.create' },
  { method: 'DELETE', path: `${ROUTES.tokens}/:id`, needs: 'admin', action: 'token.revoke' },
  { method: 'GET', path: ROUTES.audit, needs: 'admin', action: 'audit.read' },
  { method: 'UPGRADE', path: ROUTES.agentSocket, needs: 'agent' },
];

/**
 * What a request needs, undefined where there is no such door.
 * @param path in lower case, because the router does not tell cases apart.
 */
export function neededRoleOf(method: string | undefined, path: string): RouteRole['needs'] | undefined {
  return routeOf(method, path)?.needs;
}

/** What the audit log calls a request; undefined for one that any token for people is enough for. */
export function auditActionOf(method: string | undefined, path: string): AuditAction | undefined {
  return routeOf(method, path)?.action;
}

function routeOf(method: string | undefined, path: string): RouteRole | undefined {
  // Nest answers HEAD wherever it answers GET.
  const asked = method === 'HEAD' ? 'GET' : method;
  return ROUTE_ROLES.find((route) => route.method === asked && matches(route.path, path));
}

/**
 * What an address may be asked for, as the header Allow says it (RFC 9110 10.2.1); empty where there is no such
 * address. A WebSocket alone makes none: without an upgrade there is nothing at it.
 * @param path in lower case.
 */
export function allowedMethodsOf(path: string): readonly string[] {
  const asked = ROUTE_ROLES.filter((route) => route.method !== 'UPGRADE' && matches(route.path, path));
  if (asked.length === 0) return [];
  return [...asked.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'];
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  // Nest takes one slash at the end as no difference.
  const given = path.replace(/(?<=.)\/$/, '').split('/');
  if (wanted.at(-1) === '*') return given.length >= wanted.length && wanted.every(isMet(given));
  return given.length === wanted.length && wanted.every(isMet(given));
}

function isMet(given: readonly string[]): (part: string, i: number) => boolean {
  return (part, i) => part === '*' || (part.startsWith(':') ? given[i] !== '' : part === given[i]);
}

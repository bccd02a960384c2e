/** What decides who may do what, put together before anything else so that no door is open without it. */
import { randomBytes } from 'node:crypto';
import { BroadsideError, LIMITS, TOKEN_SECRET_BYTES, type TokenRole, tokenTextOf } from '@broadside/shared';
import type { AuditAction } from '../audit/audit-log.js';
import { type Config, isLoopback } from '../config/config.schema.js';
import { pathOf } from '../http/path.js';
import { readAdminToken, writeAdminToken } from './admin-token-file.js';
import { Forwarding } from './forwarding.js';
import { Gate } from './gate.js';
import { LoginThrottle } from './login-throttle.js';
import type { Caller } from './principal.js';
import { auditActionOf } from './route-roles.js';
import { Tickets } from './tickets.js';
import type { TokenService } from './token.service.js';
import { digestOf, TokenRegistry } from './token-registry.js';

export interface Access {
  readonly registry: TokenRegistry;
  readonly tickets: Tickets;
  readonly gate: Gate;
  /** Who is told of failed logins, once there is somebody to tell. */
  readonly failedLogins: { told: (address: string, door: TokenRole) => void };
  /** Who is told of what a role was too little for, likewise. */
  readonly forbiddenActs: { told: (caller: Caller, action: AuditAction) => void };
}

export function buildAccess(config: Config, now: () => Date): Access {
  const registry = new TokenRegistry(now);
  const tickets = new Tickets(registry, now);
  const failedLogins: Access['failedLogins'] = { told: () => undefined };
  const forbiddenActs: Access['forbiddenActs'] = { told: () => undefined };
  const limits = { perAddress: config.maxFailedLogins, overall: LIMITS.maxFailedLoginsOverall };
  const gate = new Gate({
    registry,
    tickets,
    throttle: new LoginThrottle(limits, () => performance.now()),
    forwarding: new Forwarding(config.trustedProxies),
    onFailedLogin: (address, door) => failedLogins.told(address, door),
    onForbidden: (caller, request) => {
      const action = auditActionOf(request.method, pathOf(request));
      if (action !== undefined) forbiddenActs.told(caller, action);
    },
  });
  return { registry, tickets, gate, failedLogins, forbiddenActs };
}

/** A join token for agents, where none was given. */
export function newJoinToken(): string {
  return tokenTextOf('agent', randomBytes(TOKEN_SECRET_BYTES));
}

export interface OpenAccessInput {
  readonly config: Config;
  readonly registry: TokenRegistry;
  readonly tokens: TokenService;
  readonly joinToken: string;
  readonly now: () => Date;
}

/** What came of the admin token file: made just now, read, or not needed because somebody has a token already. */
export type AdminTokenFileUse = 'made' | 'read' | 'unneeded';

/**
 * Takes in the tokens of the store, then those that were given; what the store knows of a token goes before.
 * @returns what came of the admin token file; undefined without one.
 * @throws BroadsideError `invalid` when strangers could reach a coordinator that nobody guards, `unavailable` for a
 *   token file that cannot be used.
 */
export async function openAccess({
  config,
  registry,
  tokens,
  joinToken,
  now,
}: OpenAccessInput): Promise<AdminTokenFileUse | undefined> {
  await tokens.open();
  const give = (id: string, name: string, role: TokenRole, text: string): void => {
    registry.add({ id, name, role, source: 'given', digest: digestOf(text), createdAt: now() });
  };
  give('given-join', 'join token of this start', 'agent', joinToken);
  if (config.apiToken !== undefined) give('given-admin', 'token of this start', 'admin', config.apiToken);
  const { adminTokenFile: file } = config;
  let use: AdminTokenFileUse | undefined;
  if (file !== undefined) {
    const text = await readAdminToken(file, config.host);
    if (text !== undefined) {
      give('given-file', 'token of the admin token file', 'admin', text);
      use = 'read';
    } else if (registry.hasAdmin) use = 'unneeded';
    else {
      await tokens.createFirstAdmin((token) => writeAdminToken(file, token));
      use = 'made';
    }
  }
  if (isLoopback(config.host) || registry.hasAdmin) return use;
  throw new BroadsideError(
    'invalid',
    `the coordinator does not listen on ${config.host} without an admin's token, because others can reach it`,
    { hint: 'let it make one with --admin-token-file FILE, or listen on 127.0.0.1' },
  );
}

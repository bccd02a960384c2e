/** Who did what, when, from where, and how it ended. Nothing of it is ever changed, and nothing of it is secret. */
import { type AuditEntry, type AuditQuery, BroadsideError, LIMITS, type TokenRole } from '@broadside/shared';
import type { Logger } from 'pino';
import type { Caller } from '../access/principal.js';
import { FailureLog } from '../failure-log.js';
import type { AuditRepository, NewAuditEntry } from './audit.repository.js';

/** What can be done, or be refused, that is worth a line. What only reads has one when it is forbidden. */
export type AuditAction =
  | 'run.create'
  | 'run.stop'
  | 'kill'
  | 'kill.release'
  | 'token.create'
  | 'token.list'
  | 'token.revoke'
  | 'audit.read'
  | 'login.failed';

export interface AuditedAct<T> {
  readonly action: AuditAction;
  /** What it was done to; where the act itself makes it, told by `subjectOf`. */
  readonly subject?: string;
  readonly subjectOf?: (made: T) => string;
  readonly detail?: Readonly<Record<string, string>>;
}

export interface AuditLogParts {
  readonly repository: AuditRepository;
  readonly now: () => Date;
  readonly log: Logger;
}

interface FailedLogins {
  readonly address: string;
  readonly door: TokenRole;
  count: number;
}

interface Forbidden {
  /** Absent for those that were too many to be told apart. */
  readonly caller: Caller | undefined;
  readonly action: AuditAction;
  count: number;
}

/** Failed logins, and what a role was too little for, are gathered, so that trying does not fill the log. */
const GATHER_MS = 60_000;
const MAX_GATHERED = 1_000;
const PRUNE_EVERY = 1_000;
/** Ids are shorter; what is none is written down as far as this. */
const MAX_SUBJECT_LENGTH = 64;

export class AuditLog {
  readonly #parts: AuditLogParts;
  readonly #failedLogins = new Map<string, FailedLogins>();
  readonly #forbidden = new Map<string, Forbidden>();
  readonly #timer: NodeJS.Timeout;
  readonly #failures: FailureLog;
  #untilPrune = 0;

  constructor(parts: AuditLogParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log);
    this.#timer = setInterval(() => void this.#storeGathered(), GATHER_MS);
  }

  /** Does something and writes down how it ended. The outcome is the act's own, whatever becomes of the line. */
  async during<T>(caller: Caller, what: AuditedAct<T>, act: () => Promise<T>): Promise<T> {
    const { action, subjectOf, detail = {} } = what;
    const subject = what.subject?.slice(0, MAX_SUBJECT_LENGTH);
    const line = { at: this.#parts.now(), action, caller, detail, count: 1 };
    try {
      const made = await act();
      await this.#append({ ...line, subject: subjectOf?.(made) ?? subject, result: 'done' });
      return made;
    } catch (error) {
      const result = error instanceof BroadsideError ? error.code : 'internal';
      await this.#append({ ...line, subject, result });
      throw error;
    }
  }

  /** A token was shown that was not good. */
  noteFailedLogin(address: string, door: TokenRole): void {
    const isFull = this.#failedLogins.size >= MAX_GATHERED;
    const key = isFull ? 'others' : `${address} ${door}`;
    const known = this.#failedLogins.get(key);
    if (known !== undefined) known.count++;
    else this.#failedLogins.set(key, { address: isFull ? 'others' : address, door, count: 1 });
  }

  /** A good token was shown, whose role is too little for what was asked. */
  noteForbidden(caller: Caller, action: AuditAction): void {
    const own = `${caller.tokenId} ${caller.address} ${action}`;
    const isOwn = this.#forbidden.has(own) || this.#forbidden.size < MAX_GATHERED;
    const key = isOwn ? own : `others ${action}`;
    const known = this.#forbidden.get(key);
    if (known !== undefined) known.count++;
    else this.#forbidden.set(key, { caller: isOwn ? caller : undefined, action, count: 1 });
  }

  /** Newest first. */
  async list(query: AuditQuery): Promise<AuditEntry[]> {
    await this.#storeGathered();
    return await this.#parts.repository.list(query);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#storeGathered();
  }

  async #storeGathered(): Promise<void> {
    const gathered = [...this.#failedLogins.values()];
    this.#failedLogins.clear();
    for (const { address, door, count } of gathered) {
      const detail = { door: door === 'agent' ? 'agents' : 'people' };
      const line = { at: this.#parts.now(), action: 'login.failed', result: 'unauthorized' } as const;
      await this.#append({ ...line, address, detail, count });
    }
    const forbidden = [...this.#forbidden.values()];
    this.#forbidden.clear();
    for (const act of forbidden) {
      await this.#append({
        at: this.#parts.now(),
        result: 'forbidden',
        address: 'others',
        detail: {},
        ...act,
      });
    }
  }

  /** Never rejects: a store that does not answer stops no run from being stopped. */
  async #append(entry: NewAuditEntry): Promise<void> {
    const { repository } = this.#parts;
    try {
      await repository.append(entry);
      if (this.#untilPrune-- > 0) return;
      this.#untilPrune = PRUNE_EVERY;
      await repository.prune(LIMITS.maxAuditEntries);
    } catch (error) {
      this.#failures.error(error, `the audit log could not be written (${entry.action})`);
    }
  }
}

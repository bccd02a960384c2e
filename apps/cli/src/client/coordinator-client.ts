import {
  type AuditEntry,
  auditEntrySchema,
  CERTIFICATE_REASONS,
  type CreatedToken,
  type CreateToken,
  createdTokenSchema,
  EXIT,
  errorBodySchema,
  isFinalState,
  type KillRequest,
  type KillState,
  killStateSchema,
  LIMITS,
  type Plan,
  printable,
  type Report,
  ROUTES,
  type RunDetail,
  type RunSummary,
  runDetailSchema,
  runSummarySchema,
  type TokenSummary,
  tokenSummarySchema,
} from '@broadside/shared';
import { z } from 'zod';
import { CliError } from '../cli-error.js';
import { ANSWER_TIMEOUT_MS, type Answer, AnswerTooLargeError, ask } from './ask.js';
import type { GivenToken } from './coordinator-token.js';

export interface CoordinatorAddress {
  /** `http://host:port`, without a path. */
  readonly url: string;
  readonly token: string | undefined;
  /** Trusted certificates (PEM) for https; absent: Node's own. */
  readonly ca?: string | undefined;
}

export interface LiveEndpoint {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly ca: string | undefined;
}

/** The coordinator could not be reached or did not answer in time: worth another try, unlike a refusal. */
export class UnreachableError extends CliError {}

/** The coordinator is there, but lets this client do nothing (more): what it has begun goes on without it. */
export class LockedOutError extends CliError {}

/** The token is not good, is too little, or is not looked at after too many wrong ones. */
const LOCKED_OUT: ReadonlySet<number> = new Set([401, 403, 429]);

/** REST client of a coordinator. Every answer is checked against the schemas of libs/shared. */
export class CoordinatorClient {
  readonly #address: CoordinatorAddress;

  constructor(address: CoordinatorAddress) {
    this.#address = address;
  }

  get url(): string {
    return this.#address.url;
  }

  /** Address and headers of the live stream of a run. */
  liveEndpoint(runId: string): LiveEndpoint {
    const url = new URL(ROUTES.live, this.#address.url);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    url.searchParams.set('run', runId);
    return { url: url.href, headers: this.#authorization(), ca: this.#address.ca };
  }

  async createRun(plan: Plan): Promise<RunSummary> {
    return await this.#ask('POST', ROUTES.runs, runSummarySchema, JSON.stringify(plan));
  }

  /** Newest first. @param limit at most so many. */
  async listRuns(limit: number = LIMITS.maxListedRuns): Promise<RunSummary[]> {
    return await this.#ask('GET', `${ROUTES.runs}?limit=${limit}`, runSummarySchema.array());
  }

  /** @throws CliError with EXIT.cluster where it knows no such run. */
  async readRun(runId: string): Promise<RunDetail> {
    return await this.#ask('GET', `${ROUTES.runs}/${runId}`, runDetailSchema);
  }

  /** Stops the load of a run. A run that has ended meanwhile is no mistake. */
  async stopRun(runId: string): Promise<void> {
    const { status, text } = await this.#send('DELETE', `${ROUTES.runs}/${runId}`);
    if (isSuccess(status) || status === 409) return;
    throw this.#refusal(status, text);
  }

  async createToken(asked: CreateToken): Promise<CreatedToken> {
    return await this.#ask('POST', ROUTES.tokens, createdTokenSchema, JSON.stringify(asked));
  }

  async listTokens(): Promise<TokenSummary[]> {
    return await this.#ask('GET', ROUTES.tokens, z.array(tokenSummarySchema));
  }

  async revokeToken(id: string): Promise<TokenSummary> {
    return await this.#ask('DELETE', `${ROUTES.tokens}/${encodeURIComponent(id)}`, tokenSummarySchema);
  }

  /** Newest first. */
  async readAudit(query: {
    readonly limit?: number | undefined;
    readonly before?: number | undefined;
  }): Promise<AuditEntry[]> {
    const words = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${value}`],
    );
    const path = words.length === 0 ? ROUTES.audit : `${ROUTES.audit}?${words.join('&')}`;
    return await this.#ask('GET', path, auditEntrySchema.array());
  }

  async killState(): Promise<KillState> {
    return await this.#ask('GET', ROUTES.kill, killStateSchema);
  }

  /** Stops all load, and keeps new runs away. */
  async kill(request: KillRequest): Promise<KillState> {
    return await this.#ask('POST', ROUTES.kill, killStateSchema, JSON.stringify(request));
  }

  async releaseKill(): Promise<KillState> {
    return await this.#ask('DELETE', ROUTES.kill, killStateSchema);
  }

  async #ask<T>(method: string, path: string, schema: z.ZodType<T>, body?: string): Promise<T> {
    const { status, text } = await this.#send(method, path, body);
    if (!isSuccess(status)) throw this.#refusal(status, text);
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
    throw new CliError(
      EXIT.cluster,
      `${this.url} gave an answer that this version does not understand` +
        `${where === '' ? '' : ` (field ${where})`}; is it a Broadside coordinator of the same version?`,
    );
  }

  async #send(method: string, path: string, body?: string): Promise<Answer> {
    try {
      return await ask(new URL(path, this.url), {
        method,
        headers: {
          ...this.#authorization(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body,
        ca: this.#address.ca,
      });
    } catch (error) {
      if (error instanceof AnswerTooLargeError)
        throw new CliError(EXIT.cluster, `${this.url} ${error.message}`);
      throw unreachable(this.url, error);
    }
  }

  #authorization(): Record<string, string> {
    return this.#address.token === undefined ? {} : { authorization: `Bearer ${this.#address.token}` };
  }

  #tokenAdvice(): string {
    const how = 'BROADSIDE_TOKEN or --token-file';
    return this.#address.token === undefined ? `give one by ${how}` : `give another one by ${how}`;
  }

  #refusal(status: number, answer: string): CliError {
    const parsed = errorBodySchema.safeParse(jsonOf(answer));
    if (!parsed.success) {
      return status === 401
        ? new LockedOutError(EXIT.cluster, `${this.url} refused the token; ${this.#tokenAdvice()}`)
        : new CliError(
            EXIT.cluster,
            `${this.url} answered with status ${status}, but not as a Broadside coordinator; check the address`,
          );
    }
    const { message, hint } = parsed.data.error;
    // What is wrong with the token the coordinator has said; its hint is for those who write HTTP by hand.
    const advice = status === 401 ? this.#tokenAdvice() : hint;
    const exitCode = status === 400 ? EXIT.usage : EXIT.cluster;
    const text = `${this.url}: ${advice === undefined ? message : `${message}; ${advice}`}`;
    return LOCKED_OUT.has(status) ? new LockedOutError(exitCode, text) : new CliError(exitCode, text);
  }
}

/**
 * The report of a run, or undefined as long as it goes on.
 * @throws CliError with EXIT.cluster where it has ended without one.
 */
export function reportOfEnded({ id, state, reason, report }: RunDetail): Report | undefined {
  if (!isFinalState(state)) return undefined;
  if (report !== undefined) return report;
  const why = reason === undefined ? '' : `: ${printable(reason)}`;
  throw new CliError(EXIT.cluster, `run ${id} ended (${state}) without a report${why}`);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whatever is not JSON fails the schema check that follows, with a message about the service.
    return undefined;
  }
}

const REASON_OF_CODE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the coordinator running there?',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name could not be looked up',
  ECONNRESET: 'the connection was closed without an answer',
  EHOSTUNREACH: 'no route to the host',
  ETIMEDOUT: 'no answer',
  EPROTO: 'it speaks no TLS; is it http:// there?',
  HPE_INVALID_CONSTANT: 'it speaks no HTTP; is it https:// there?',
  ...CERTIFICATE_REASONS,
};

function unreachable(url: string, error: unknown): UnreachableError {
  // It is the cause of what a request rejects with that was aborted by its timer.
  const isTimeout = error instanceof Error && error.name === 'AbortError';
  const root = rootOf(error);
  const reason = isTimeout
    ? `no answer within ${ANSWER_TIMEOUT_MS / 1_000}s`
    : (REASON_OF_CODE[root.code] ?? root.message);
  return new UnreachableError(EXIT.cluster, `cannot reach the coordinator at ${url}: ${reason}`, error);
}

/** Code and text of what made a request fail: a name with several addresses gives one error for each. */
function rootOf(error: unknown): { readonly code: string; readonly message: string } {
  let current: unknown = error;
  let message = 'the request failed';
  for (let depth = 0; depth < 5 && current instanceof Error; depth++) {
    message = current.message;
    if ('code' in current && typeof current.code === 'string') return { code: current.code, message };
    current = current.cause ?? (current instanceof AggregateError ? current.errors[0] : undefined);
  }
  return { code: '', message };
}

/**
 * Checks the address of a coordinator as a person types it.
 * @param flag what gave the address.
 * @throws CliError with EXIT.usage.
 */
export function coordinatorAddress(
  flag: string,
  url: string,
  token: GivenToken | undefined,
): CoordinatorAddress {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  let parsed: URL;
  try {
    parsed = new URL(text);
  } catch (error) {
    throw new CliError(EXIT.usage, `${flag} ${JSON.stringify(url)}: must be http://host:port`, error);
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new CliError(EXIT.usage, `${flag}: must begin with http:// or https://`);
  }
  if (parsed.port === '0')
    throw new CliError(EXIT.usage, `${flag}: port 0 is no port that can be connected to`);
  if (parsed.username !== '' || parsed.password !== '') {
    throw new CliError(EXIT.usage, `${flag}: must not hold a user name or password; set BROADSIDE_TOKEN`);
  }
  if (token !== undefined && !/^[\x21-\x7e]{1,1024}$/.test(token.text)) {
    throw new CliError(
      EXIT.usage,
      `${token.name}: a token is 1 to 1024 characters of plain ASCII without blanks`,
    );
  }
  return { url: parsed.origin, token: token?.text };
}

/** Bytes of a plan on the wire, checked before anything is started. */
export function assertPlanFits(plan: Plan): void {
  const sizeBytes = Buffer.byteLength(JSON.stringify(plan));
  if (sizeBytes <= LIMITS.maxRestBodyBytes) return;
  throw new CliError(
    EXIT.usage,
    `the plan is ${sizeBytes} bytes long; at most ${LIMITS.maxRestBodyBytes} are accepted`,
  );
}

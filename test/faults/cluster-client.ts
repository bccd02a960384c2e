// A cluster as a person meets it, over its REST interface, directly or through a Unix socket that leads into a
// network namespace.

import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  type AgentSummary,
  isFinalState,
  type Report,
  ROUTES,
  type RunDetail,
  runDetailSchema,
} from '@broadside/shared';

/** The coordinator's own address, or the path of a Unix socket that leads to it. */
export interface Door {
  readonly url: string;
  readonly socketPath?: string;
  readonly token: string;
}

/** The coordinator answered that it cannot, for now. */
class ServerError extends Error {}

const READY_TIMEOUT_MS = 30_000;

export class ClusterClient {
  readonly #door: Door;

  constructor(door: Door) {
    this.#door = door;
  }

  async agents(): Promise<AgentSummary[]> {
    // The coordinator's own answer; a wrong shape fails the test that reads it.
    return (await this.#ask('GET', ROUTES.agents)) as AgentSummary[];
  }

  async post(plan: Readonly<Record<string, unknown>>): Promise<string> {
    const body = (await this.#ask('POST', ROUTES.runs, plan)) as { readonly id?: string };
    if (body.id === undefined) throw new Error(`not taken in: ${JSON.stringify(body)}`);
    return body.id;
  }

  /** The same, as soon as the coordinator has its store and its queue: an outage may just have ended. */
  async postWhenReady(plan: Readonly<Record<string, unknown>>): Promise<string> {
    let runId = '';
    await this.until(async () => {
      try {
        runId = await this.post(plan);
        return true;
      } catch (error) {
        if (error instanceof ServerError) return false;
        throw error;
      }
    }, READY_TIMEOUT_MS);
    return runId;
  }

  /** Undefined while the coordinator, or its store, is away. */
  async detail(runId: string): Promise<RunDetail | undefined> {
    let answer: unknown;
    try {
      answer = await this.#ask('GET', `${ROUTES.runs}/${runId}`);
    } catch (error) {
      if (error instanceof Error && ('code' in error || error instanceof ServerError)) return undefined;
      throw error;
    }
    return runDetailSchema.parse(answer);
  }

  /** The report of a run, once it has ended. */
  async report(runId: string): Promise<Report> {
    let detail: RunDetail | undefined;
    await this.until(async () => {
      detail = await this.detail(runId);
      return detail !== undefined && isFinalState(detail.state);
    });
    if (detail?.report === undefined) {
      throw new Error(`run ${runId} has no report: ${JSON.stringify(detail)}\n${this.complaints()}`);
    }
    return detail.report;
  }

  /** Asks again every few milliseconds; the test's own timeout ends it where no limit is given. */
  async until(
    holds: () => Promise<boolean> | boolean,
    limitMs: number = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const startMs = performance.now();
    while (!(await holds())) {
      if (performance.now() - startMs > limitMs) {
        throw new Error(`not so within ${limitMs} ms: ${holds.toString()}\n${this.complaints()}`);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 25);
      });
    }
  }

  /** What the cluster's processes said, for the message of a test that fails. */
  complaints(): string {
    return '';
  }

  async #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const { url, socketPath, token } = this.#door;
    const asked = request(new URL(path, url), {
      method,
      ...(socketPath === undefined ? {} : { socketPath }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    });
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve).once('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
    const answer = await text(reply);
    if ((reply.statusCode ?? 0) >= 500) throw new ServerError(`${path}: ${answer}`);
    return JSON.parse(answer);
  }
}

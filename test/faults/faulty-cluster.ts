// A cluster of real processes that is there to be hurt: Redis, a coordinator whose store and port survive it, and
// agents by name.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentSummary, isFinalState, ROUTES, type RunDetail, runDetailSchema } from '@broadside/shared';
import { closedPort, startBroadside } from '../cli/broadside.js';
import type { RunningProcess } from '../support/process.js';
import { RedisServer } from '../support/redis.js';

const ENV = { BROADSIDE_JOIN_TOKEN: 'a-join-token-of-this-test' };

export class FaultyCluster {
  readonly redis: RedisServer;
  readonly url: string;
  readonly #dataDir: string;
  readonly #agents = new Map<string, RunningProcess>();
  #coordinator: RunningProcess | undefined;

  private constructor(redis: RedisServer, url: string, dataDir: string) {
    this.redis = redis;
    this.url = url;
    this.#dataDir = dataDir;
  }

  static async start(): Promise<FaultyCluster> {
    const redis = await RedisServer.start({ isDurable: true });
    const dataDir = await mkdtemp(join(tmpdir(), 'broadside-faults-'));
    const cluster = new FaultyCluster(redis, `http://127.0.0.1:${await closedPort()}`, dataDir);
    await cluster.startCoordinator();
    return cluster;
  }

  get coordinator(): RunningProcess {
    if (this.#coordinator === undefined) throw new Error('the coordinator was never started');
    return this.#coordinator;
  }

  /** On the same port and the same store as the one before. */
  async startCoordinator(): Promise<void> {
    const { port } = new URL(this.url);
    const words = ['serve', '--port', port, '--redis', this.redis.url, '--data-dir', this.#dataDir];
    this.#coordinator = await startBroadside(words, ENV);
    await this.#coordinator.waitForLine(/^broadside coordinator listens on /);
  }

  /** Starts the named agents that are not there, or are not any more. @param joinUrl their way to the coordinator. */
  async haveAgents(names: readonly string[], slots: number, joinUrl = this.url): Promise<void> {
    const missing = names.filter((name) => this.#agents.get(name)?.hasEnded() !== false);
    await Promise.all(
      missing.map(async (name) => {
        const words = ['agent', '--join', joinUrl, '--name', name, '--slots', String(slots)];
        const agent = await startBroadside(words, ENV);
        await agent.waitForLine(/ offers \d+ slots /);
        this.#agents.set(name, agent);
      }),
    );
    await this.until(async () => {
      const present = await this.agents();
      return names.every((name) => present.some((agent) => agent.name === name && agent.freeSlots === slots));
    });
  }

  agent(name: string): RunningProcess {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  async agents(): Promise<AgentSummary[]> {
    const response = await fetch(this.url + ROUTES.agents);
    // The coordinator's own answer; a wrong shape fails the test that reads it.
    return (await response.json()) as AgentSummary[];
  }

  async post(plan: Readonly<Record<string, unknown>>): Promise<string> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.url + ROUTES.runs, {
      method: 'POST',
      headers,
      body: JSON.stringify(plan),
    });
    const body = (await response.json()) as { readonly id?: string };
    if (body.id === undefined) throw new Error(`not taken in: ${JSON.stringify(body)}`);
    return body.id;
  }

  /** Undefined while the coordinator is away. */
  async detail(runId: string): Promise<RunDetail | undefined> {
    try {
      const response = await fetch(`${this.url}${ROUTES.runs}/${runId}`);
      return runDetailSchema.parse(await response.json());
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** The agent's place of each shard: which agents have one. */
  async report(runId: string): Promise<NonNullable<RunDetail['report']>> {
    let detail: RunDetail | undefined;
    await this.until(async () => {
      detail = await this.detail(runId);
      return detail !== undefined && isFinalState(detail.state);
    });
    if (detail?.report === undefined) {
      throw new Error(`run ${runId} has no report: ${JSON.stringify(detail)}\n${this.coordinator.stderr()}`);
    }
    return detail.report;
  }

  /** Asks again every few milliseconds; the test's own timeout ends it. */
  async until(holds: () => Promise<boolean> | boolean): Promise<void> {
    while (!(await holds())) {
      await new Promise((resolve) => {
        setTimeout(resolve, 25);
      });
    }
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
    await this.#coordinator?.stop();
    await this.redis.stop();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}

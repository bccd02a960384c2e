// A cluster of real processes that is there to be hurt: Redis, a coordinator whose store and port survive it, and
// agents by name. All on loopback, or each on a host of its own (test/cluster).

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedPort, startBroadside } from '../cli/broadside.js';
import { LOOPBACK, type Place } from '../support/place.js';
import type { RunningProcess } from '../support/process.js';
import { RedisServer } from '../support/redis.js';
import { ClusterClient, type Door } from './cluster-client.js';

/** Long enough for a coordinator that others can reach. */
const TOKEN = 'an-api-token-of-this-test';
export const JOIN_TOKEN = 'a-join-token-of-this-test';
const ENV = { BROADSIDE_JOIN_TOKEN: JOIN_TOKEN, BROADSIDE_TOKEN: TOKEN };

/** Beside other things on a busy machine; only what hangs takes so long. */
const START_LIMIT_MS = 120_000;

export interface ClusterOptions {
  readonly coordinatorPlace?: Place;
  readonly redisPlace?: Place;
  /** Where an agent runs, and how it reaches coordinator and Redis when not at their own addresses. */
  readonly agentWay?: (name: string) => AgentWay;
  /** A Unix socket that leads to the coordinator's address. */
  readonly socketPath?: (coordinatorUrl: string) => Promise<string>;
  /** More words for `broadside serve`, instead of a data directory. */
  readonly storeWords?: readonly string[];
}

export interface AgentWay {
  readonly place?: Place;
  readonly joinUrl?: string;
  readonly redisUrl?: string;
}

interface Parts {
  readonly redis: RedisServer;
  readonly door: Door;
  readonly dataDir: string;
  readonly options: ClusterOptions;
}

export class FaultyCluster extends ClusterClient {
  readonly redis: RedisServer;
  readonly url: string;
  readonly #dataDir: string;
  readonly #options: ClusterOptions;
  readonly #agents = new Map<string, RunningProcess>();
  #coordinator: RunningProcess | undefined;

  private constructor({ redis, door, dataDir, options }: Parts) {
    super(door);
    this.redis = redis;
    this.url = door.url;
    this.#dataDir = dataDir;
    this.#options = options;
  }

  static async start(options: ClusterOptions = {}): Promise<FaultyCluster> {
    const place = options.redisPlace ?? LOOPBACK;
    const redis = await RedisServer.start({ isDurable: true, password: 'a-password-of-this-test', place });
    const dataDir = await mkdtemp(join(tmpdir(), 'broadside-faults-'));
    const { address } = options.coordinatorPlace ?? LOOPBACK;
    const url = `http://${address}:${await closedPort()}`;
    const socketPath = await options.socketPath?.(url);
    const door = { url, token: TOKEN, ...(socketPath === undefined ? {} : { socketPath }) };
    const cluster = new FaultyCluster({ redis, door, dataDir, options });
    await cluster.startCoordinator();
    return cluster;
  }

  get coordinator(): RunningProcess {
    if (this.#coordinator === undefined) throw new Error('the coordinator was never started');
    return this.#coordinator;
  }

  /** On the same port and the same store as the one before. */
  async startCoordinator(): Promise<void> {
    const { hostname, port } = new URL(this.url);
    const words = ['serve', '--host', hostname, '--port', port, '--redis', this.redis.url];
    words.push(...(this.#options.storeWords ?? ['--data-dir', this.#dataDir]));
    this.#coordinator = await startBroadside(words, ENV, this.#options.coordinatorPlace);
    await this.#coordinator.waitForLine(/^broadside coordinator listens on /, START_LIMIT_MS);
  }

  /**
   * Until the named agents are there, each once and with all slots free. A coordinator that was restarted still expects
   * the agents of the earlier one, and calls a new one of the same name `one (2)` then. One that is not running is
   * started, again where it gave up, as a service manager would. @param way theirs, instead of the usual one.
   */
  async haveAgents(names: readonly string[], slots: number, way?: AgentWay): Promise<void> {
    await this.until(async () => {
      const ended = names.filter((name) => !this.isRunning(name));
      await Promise.all(ended.map((name) => this.startAgent(name, slots, way)));
      // None, while the coordinator is away itself.
      const present = await this.agents().catch(() => []);
      return names.every((name) => {
        const [agent, ...others] = present.filter((each) => isCalled(name, each.name));
        return agent?.freeSlots === slots && others.length === 0;
      });
    }, START_LIMIT_MS);
  }

  isRunning(name: string): boolean {
    return this.#agents.get(name)?.hasEnded() === false;
  }

  /** Without waiting until it has joined. */
  async startAgent(name: string, slots: number, given?: AgentWay): Promise<RunningProcess> {
    const way = given ?? this.#options.agentWay?.(name) ?? {};
    const words = ['agent', '--join', way.joinUrl ?? this.url, '--name', name, '--slots', String(slots)];
    if (way.redisUrl !== undefined) words.push('--redis', way.redisUrl);
    const agent = await startBroadside(words, ENV, way.place);
    this.#agents.set(name, agent);
    return agent;
  }

  agent(name: string): RunningProcess {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new Error(`no agent ${name}`);
    return agent;
  }

  override complaints(): string {
    return this.#coordinator?.stderr() ?? '';
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.stop()));
    await this.#coordinator?.stop();
    await this.redis.stop();
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}

/** By the name itself, or with the number that tells agents of one name apart. */
function isCalled(name: string, given: string): boolean {
  return given === name || given.replace(/ \(\d+\)$/, '') === name;
}

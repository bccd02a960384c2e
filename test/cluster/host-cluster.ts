// A cluster whose coordinator, Redis and agents have a host each, so that what is between them can be hurt.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AgentWay, FaultyCluster } from '../faults/faulty-cluster.js';
import type { Place } from '../support/place.js';
import type { RunningProcess } from '../support/process.js';
import type { Disturbance } from './disturbance.js';
import { type NetworkHost, TestNetwork } from './test-network.js';

const RELAY = fileURLToPath(new URL('relay.mjs', import.meta.url));

export interface HostClusterOptions {
  readonly agentNames: readonly string[];
  /** Ms that a byte takes from this agent to coordinator and Redis, and as many back; 0 unless told. */
  readonly delayMs?: Readonly<Record<string, number>>;
}

export class HostCluster {
  readonly network: TestNetwork;
  readonly cluster: FaultyCluster;
  readonly target: NetworkHost;
  readonly #relays: Relays;

  private constructor(network: TestNetwork, cluster: FaultyCluster, relays: Relays) {
    this.network = network;
    this.cluster = cluster;
    this.target = network.host('target');
    this.#relays = relays;
  }

  /** With no agent yet: `cluster.haveAgents` starts those that were named, each on its host. */
  static async start({ agentNames, delayMs = {} }: HostClusterOptions): Promise<HostCluster> {
    const network = await TestNetwork.create();
    const relays = await Relays.create();
    for (const name of ['coordinator', 'redis', 'target', ...agentNames]) await network.addHost(name);
    const ways = new Map<string, AgentWay>();
    const cluster = await FaultyCluster.start({
      coordinatorPlace: network.host('coordinator'),
      redisPlace: network.host('redis'),
      agentWay: (name) => ways.get(name) ?? { place: network.host(name) },
      // The relay runs where the coordinator does; its socket is a file, and so can be reached from here.
      socketPath: (url) => relays.openDoor(network.host('coordinator'), new URL(url).host),
    });
    for (const [name, ms] of Object.entries(delayMs)) {
      const way = await network.addHost(`way-${name}`);
      const coordinator = await relays.lengthen(way, new URL(cluster.url).host, ms);
      const redis = new URL(cluster.redis.url);
      redis.host = await relays.lengthen(way, redis.host, ms);
      ways.set(name, {
        place: network.host(name),
        joinUrl: `http://${coordinator}`,
        redisUrl: redis.href,
      });
    }
    return new HostCluster(network, cluster, relays);
  }

  /** Coordinator and Redis, but not the target, are out of the agent's reach: for `network.disturb`. */
  cutOff(agentName: string): Disturbance {
    const { address } = this.network.host(agentName);
    const and = ['coordinator', 'redis'].map((name) => this.network.host(name).address);
    return { kind: 'cut', between: address, and };
  }

  async stop(): Promise<void> {
    await this.network.mendAll();
    await this.cluster.stop();
    await this.#relays.stop();
    await this.network.remove();
  }
}

/** The relay processes of one cluster. */
class Relays {
  readonly #folder: string;
  readonly #running: RunningProcess[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<Relays> {
    return new Relays(await mkdtemp(join(tmpdir(), 'broadside-door-')));
  }

  /** @returns the path of a Unix socket that leads to `to`. */
  async openDoor(place: Place, to: string): Promise<string> {
    const path = join(this.#folder, 'door');
    await this.#start(place, [path, to]);
    return path;
  }

  /** @returns host:port that leads to `to`, `delayMs` away in each direction. */
  async lengthen(place: Place, to: string, delayMs: number): Promise<string> {
    const port = 7_000 + this.#running.length;
    const listen = `${place.address}:${port}`;
    await this.#start(place, [listen, to, String(delayMs)]);
    return listen;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#running.map((relay) => relay.stop()));
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(place: Place, words: readonly string[]): Promise<void> {
    const relay = await place.start(process.execPath, [RELAY, ...words]);
    this.#running.push(relay);
    await relay.waitForLine(/relay listens/);
  }
}

// How each fault of a schedule is done to a cluster of real processes, and undone.

import type { RunningProcess } from '../support/process.js';
import type { Disturbance } from './disturbance.js';
import { AGENT_SLOTS, type AgentFault, type Fault } from './fault-schedule.js';
import type { HostCluster } from './host-cluster.js';

/** Puts right what a fault did. */
export type Undo = () => Promise<unknown>;

export class FaultActions {
  readonly #hosts: HostCluster;
  #coordinatorReturns: Promise<void> | undefined;

  constructor(hosts: HostCluster) {
    this.#hosts = hosts;
  }

  /** Undefined when what is to be hurt is down already. */
  async begin(fault: Fault): Promise<Undo | undefined> {
    const { cluster } = this.#hosts;
    if ('agent' in fault) return cluster.isRunning(fault.agent) ? this.#beginAtAgent(fault) : undefined;
    const { coordinator, redis } = cluster;
    switch (fault.kind) {
      case 'kill-coordinator':
        if (coordinator.hasEnded()) return undefined;
        await coordinator.kill();
        return () => this.#bringCoordinatorBack();
      case 'freeze-coordinator':
        return freeze(coordinator);
      case 'kill-redis':
        if (redis.hasEnded()) return undefined;
        await redis.kill();
        return () => redis.restart();
    }
  }

  async #beginAtAgent(fault: AgentFault): Promise<Undo> {
    const { cluster, network } = this.#hosts;
    const agent = cluster.agent(fault.agent);
    const host = network.host(fault.agent);
    switch (fault.kind) {
      case 'kill':
        await agent.kill();
        return () => this.#bringAgentBack(fault.agent);
      case 'drain':
        agent.signal('SIGTERM');
        return async () => {
          await agent.exit;
          await this.#bringAgentBack(fault.agent);
        };
      case 'freeze':
        return freeze(agent);
      case 'unplug':
        await network.setLink(host, false);
        return () => network.setLink(host, true);
      case 'cut-off':
        return this.#disturb(this.#hosts.cutOff(fault.agent));
      case 'lossy':
        return this.#disturb({ kind: 'loss', host: host.address, percent: fault.percent });
    }
  }

  async #disturb(disturbance: Disturbance): Promise<Undo> {
    await this.#hosts.network.disturb(disturbance);
    return () => this.#hosts.network.mend(disturbance);
  }

  async #bringAgentBack(name: string): Promise<void> {
    if (!this.#hosts.cluster.isRunning(name)) await this.#hosts.cluster.startAgent(name, AGENT_SLOTS);
  }

  /**
   * As a service manager would: again until it stays, because it cannot start while Redis is away. One that was killed
   * as it came back has been started again by whoever was at it.
   */
  #bringCoordinatorBack(): Promise<void> {
    if (!this.#hosts.cluster.coordinator.hasEnded()) return this.#coordinatorReturns ?? Promise.resolve();
    this.#coordinatorReturns ??= this.#restartCoordinator().finally(() => {
      this.#coordinatorReturns = undefined;
    });
    return this.#coordinatorReturns;
  }

  async #restartCoordinator(): Promise<void> {
    const { cluster } = this.#hosts;
    for (;;) {
      try {
        await cluster.startCoordinator();
        return;
      } catch (error) {
        // One that still runs, and says nothing, is worth a failure of the test.
        if (!cluster.coordinator.hasEnded()) throw error;
      }
    }
  }
}

function freeze(running: RunningProcess): Undo {
  running.signal('SIGSTOP');
  return () => {
    running.signal('SIGCONT');
    return Promise.resolve();
  };
}

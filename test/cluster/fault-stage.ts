// Plays schedules of faults on a cluster of real processes, one after the other, and puts everything right again.

import { isFinalState, type RunDetail } from '@broadside/shared';
import { CountingTarget } from './counting-target.js';
import { FaultActions } from './fault-actions.js';
import {
  AGENT_NAMES,
  AGENT_SLOTS,
  describeFault,
  type Fault,
  type FaultSchedule,
  TARGET_DELAY_MS,
} from './fault-schedule.js';
import { HostCluster } from './host-cluster.js';

/** From the order to the end of a run, faults included: nothing that is planned here takes half as long. */
const LIMIT_MS = 180_000;

export interface Played {
  /** What happened, in order: for whoever replays it. */
  readonly story: readonly string[];
  /** Undefined when the run did not come to an end. */
  readonly detail: RunDetail | undefined;
  /** Requests that the target saw. */
  readonly seen: number;
}

export class FaultStage {
  readonly #hosts: HostCluster;
  readonly #actions: FaultActions;
  readonly #target: CountingTarget;
  #played = 0;
  #startMs = 0;
  #story: string[] = [];

  private constructor(hosts: HostCluster, target: CountingTarget) {
    this.#hosts = hosts;
    this.#actions = new FaultActions(hosts);
    this.#target = target;
  }

  static async open(): Promise<FaultStage> {
    const hosts = await HostCluster.start({ agentNames: AGENT_NAMES });
    return new FaultStage(hosts, await CountingTarget.start(hosts.target, TARGET_DELAY_MS));
  }

  async play({ plan, faults }: FaultSchedule): Promise<Played> {
    const { cluster } = this.#hosts;
    await cluster.haveAgents(AGENT_NAMES, AGENT_SLOTS);
    const path = `/run-${++this.#played}`;
    this.#startMs = performance.now();
    this.#story = [];
    this.#tell(JSON.stringify(plan));
    const runId = await cluster.postWhenReady({ ...plan, target: this.#target.url + path });
    const acting = Promise.all(faults.map((fault) => this.#act(fault)));
    const detail = await this.#ended(runId);
    this.#tell(`the run is ${detail?.state ?? 'not at its end'}`);
    await acting;
    // An agent that was out of reach may send until it is back, and then it is free.
    if (detail !== undefined) await cluster.haveAgents(AGENT_NAMES, AGENT_SLOTS);
    return { story: this.#story, detail, seen: await this.#target.seen(path) };
  }

  async close(): Promise<void> {
    await this.#target.stop();
    await this.#hosts.stop();
  }

  async #ended(runId: string): Promise<RunDetail | undefined> {
    const { cluster } = this.#hosts;
    let detail: RunDetail | undefined;
    let isOver = false;
    await cluster.until(async () => {
      detail = (await cluster.detail(runId)) ?? detail;
      isOver = detail !== undefined && isFinalState(detail.state);
      return isOver || performance.now() - this.#startMs > LIMIT_MS;
    });
    if (isOver) return detail;
    this.#tell(`it hangs: ${JSON.stringify(detail)?.slice(0, 2_000)}\n${cluster.complaints()}`);
    return undefined;
  }

  async #act(fault: Fault): Promise<void> {
    await this.#until(fault.atMs);
    const undo = await this.#actions.begin(fault);
    this.#tell(`${describeFault(fault)}${undo === undefined ? ': is down already' : ''}`);
    if (undo === undefined) return;
    await this.#until(fault.atMs + fault.forMs);
    await undo();
    this.#tell(`${fault.kind}: over`);
  }

  async #until(atMs: number): Promise<void> {
    const leftMs = this.#startMs + atMs - performance.now();
    await new Promise((resolve) => {
      setTimeout(resolve, Math.max(leftMs, 0));
    });
  }

  #tell(what: string): void {
    this.#story.push(`${((performance.now() - this.#startMs) / 1_000).toFixed(2)} s: ${what}`);
  }
}

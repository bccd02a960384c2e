// One seed: a plan, a cluster and a schedule of faults, carried to the end of the run; then the books are looked at.

import { isFinalState, type Plan, parsePlan, type Report, shardAttemptKey } from '@broadside/shared';
import { Random } from '../../libs/shared/src/testing/random.js';
import { VirtualAgent } from './virtual-agent.js';
import { VirtualCoordinator } from './virtual-coordinator.js';
import type { AttemptTruth } from './virtual-engine.js';
import { VirtualQueue } from './virtual-queue.js';
import { VirtualStore } from './virtual-store.js';
import { VirtualTime } from './virtual-time.js';

/** Of virtual time; nothing that is planned here takes half as long. */
const LIMIT_MS = 240_000;

export interface Outcome {
  readonly seed: number;
  /** What happened, in order: for whoever replays it. */
  readonly story: readonly string[];
  /** What must not be: empty when all is well. */
  readonly wrongs: readonly string[];
  readonly report: Report | undefined;
}

export async function simulate(seed: number): Promise<Outcome> {
  const simulation = new Simulation(seed);
  return simulation.run();
}

class Simulation {
  readonly #seed: number;
  readonly #random: Random;
  readonly #time = new VirtualTime();
  readonly #store: VirtualStore;
  readonly #queue: VirtualQueue;
  readonly #agents: VirtualAgent[] = [];
  readonly #truths = new Map<string, AttemptTruth>();
  readonly #story: string[] = [];
  #coordinator: VirtualCoordinator | undefined;
  #agentCount = 0;
  #slotCount = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#store = new VirtualStore(this.#random);
    this.#queue = new VirtualQueue(this.#time, this.#random);
  }

  async run(): Promise<Outcome> {
    await this.#startCoordinator();
    const agents = this.#random.int(1, 4);
    for (let i = 0; i < agents; i++) this.#addAgent();
    await this.#time.run(() => this.#time.nowMs > 500, 1_000);
    const plan = this.#plan();
    const posted = this.#coordinator?.runs.create(plan);
    let runId: string | undefined;
    posted?.then(
      (run) => {
        runId = run.id;
      },
      (error: unknown) => this.#tell(`not taken in: ${String(error)}`),
    );
    await this.#time.run(() => runId !== undefined, this.#time.nowMs + 1_000);
    this.#schedule();
    const state = (): string => this.#store.runs.get(runId ?? '')?.state ?? '';
    const isDone = await this.#time.run(() => ['finished', 'aborted', 'failed'].includes(state()), LIMIT_MS);
    const report = this.#store.runs.get(runId ?? '')?.report;
    if (!isDone && state() === 'queued' && this.#slotsLeft() < (plan.slots ?? 1)) {
      return { seed: this.#seed, story: this.#story, wrongs: [], report };
    }
    const wrongs = isDone ? this.#wrongsOf(plan, runId ?? '', report) : [`the run hangs: ${state()}`];
    return { seed: this.#seed, story: this.#story, wrongs, report };
  }

  #slotsLeft(): number {
    return this.#agents.reduce((sum, agent) => sum + (agent.isGone ? 0 : agent.slots), 0);
  }

  #plan(): Plan {
    const random = this.#random;
    const connections = random.int(1, 12);
    const slots = random.isTrue(0.7) ? random.int(1, connections) : undefined;
    const load = random.pick([
      { requests: random.int(connections, 900) },
      { requests: random.int(connections, 900) },
      { durationMs: random.int(1, 12) * 1_000 },
      { durationMs: random.int(2, 8) * 1_000, requests: random.int(connections, 900) },
    ]);
    const given = {
      target: 'http://127.0.0.1:9/',
      connections,
      timeoutMs: 2_000,
      probe: random.isTrue(0.3),
      ...load,
      ...(slots === undefined ? {} : { slots: Math.min(slots, this.#slotCount) }),
      ...(random.isTrue(0.15) ? { onAgentLoss: random.pick(['continue', 'abort']) } : {}),
    };
    this.#tell(JSON.stringify(given));
    const parsed = parsePlan(given);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    return parsed.plan;
  }

  #schedule(): void {
    const random = this.#random;
    const faults = random.int(0, 6);
    for (let i = 0; i < faults; i++) {
      const fault = random.pick(FAULTS);
      this.#time.after(random.int(0, 12_000), () => this[fault]());
    }
  }

  #addAgent(): void {
    const id = `agent-${++this.#agentCount}`;
    const slots = this.#random.int(1, 3);
    this.#slotCount += slots;
    const agent = new VirtualAgent({
      id,
      slots,
      time: this.#time,
      random: this.#random,
      queue: this.#queue,
      coordinator: () => this.#coordinator,
      truths: this.#truths,
    });
    agent.way.delayMs = this.#random.pick([1, 20, 80]);
    this.#agents.push(agent);
  }

  async #startCoordinator(): Promise<void> {
    const coordinator = new VirtualCoordinator(this.#time, this.#store, this.#queue);
    this.#coordinator = coordinator;
    coordinator.events.on('live-message', (message) => {
      if (message.kind === 'state') this.#tell(`the run is ${message.state}`);
    });
    let isOpen = false;
    void coordinator.open().then(() => {
      isOpen = true;
    });
    if (this.#time.nowMs === 0) await this.#time.run(() => isOpen, 60_000);
  }

  #someAgent(): VirtualAgent | undefined {
    const alive = this.#agents.filter((agent) => !agent.isGone);
    return alive.length === 0 ? undefined : this.#random.pick(alive);
  }

  #tell(what: string): void {
    this.#story.push(`${(this.#time.nowMs / 1_000).toFixed(3)} s: ${what}`);
  }

  killAgent(): void {
    const agent = this.#someAgent();
    const isHostGone = this.#random.isTrue(0.3);
    if (agent === undefined) return;
    this.#tell(`${agent.id} is killed${isHostGone ? ' with its host' : ''}`);
    agent.kill(isHostGone);
  }

  freezeAgent(): void {
    const agent = this.#someAgent();
    const lastsMs = this.#random.int(100, 9_000);
    if (agent === undefined) return;
    this.#tell(`${agent.id} stands still for ${lastsMs} ms`);
    agent.timers.freeze();
    this.#time.after(lastsMs, () => agent.timers.thaw());
  }

  partitionAgent(): void {
    const agent = this.#someAgent();
    const lastsMs = this.#random.int(100, 15_000);
    if (agent === undefined) return;
    this.#tell(`${agent.id} is cut off for ${lastsMs} ms`);
    agent.way.isCut = true;
    this.#time.after(lastsMs, () => {
      if (!agent.isGone) agent.heal();
    });
  }

  cutSocket(): void {
    const agent = this.#someAgent();
    if (agent === undefined) return;
    this.#tell(`the socket of ${agent.id} breaks`);
    agent.cutSocket();
  }

  drainAgent(): void {
    const agent = this.#someAgent();
    if (agent === undefined) return;
    this.#tell(`${agent.id} is told to leave`);
    agent.timers.run(() => agent.drain());
  }

  addAgent(): void {
    this.#tell('another agent joins');
    this.#addAgent();
  }

  killCoordinator(): void {
    if (this.#coordinator?.isOpen !== true) return;
    const lastsMs = this.#random.int(50, 6_000);
    this.#tell(`the coordinator is killed, and started again after ${lastsMs} ms`);
    this.#coordinator.kill();
    this.#time.after(lastsMs, () => void this.#startCoordinator());
  }

  stopQueue(): void {
    const lastsMs = this.#random.int(100, 12_000);
    this.#tell(`the queue is away for ${lastsMs} ms`);
    this.#queue.goDown();
    this.#time.after(lastsMs, () => this.#queue.comeBack());
  }

  slowStore(): void {
    const lastsMs = this.#random.int(500, 5_000);
    this.#tell(`the store is slow for ${lastsMs} ms`);
    this.#store.slownessMs = 1_500;
    this.#time.after(lastsMs, () => {
      this.#store.slownessMs = 5;
    });
  }

  echoFrames(): void {
    const agent = this.#someAgent();
    if (agent === undefined) return;
    this.#tell(`frames of ${agent.id} come more than once`);
    agent.way.echo = 0.5;
  }

  forgeFrames(): void {
    const [victim, forger] = [this.#someAgent(), this.#someAgent()];
    if (victim === undefined || forger === undefined || victim === forger) return;
    this.#tell(`${forger.id} sends frames of ${victim.id}`);
    for (const frame of victim.frames) this.#coordinator?.onForgedFrame(forger.id, frame);
  }

  #wrongsOf(plan: Plan, runId: string, report: Report | undefined): string[] {
    const run = this.#store.runs.get(runId);
    if (run === undefined || !isFinalState(run.state)) return ['there is no run'];
    if (report === undefined) return [`no report: ${run.reason ?? ''}`];
    const wrongs = report.ledger.problems.map((problem) => `books: ${problem}`);
    if (
      report.verdict.outcome === 'pass' &&
      report.losses?.some((loss) => loss.rest === 'dropped') === true
    ) {
      if (plan.onAgentLoss !== 'continue') wrongs.push('passed although something was not sent');
    }
    let sent = 0;
    for (const shard of report.shards) {
      const key = shardAttemptKey({ runId, ...shard });
      const truth = this.#truths.get(key) ?? { sent: 0, completed: 0, isCutShort: false };
      const counters = shard.counters;
      if (counters === undefined) continue;
      sent += counters.sent;
      if (counters.sent > truth.sent || counters.completed > truth.completed) {
        wrongs.push(
          `${key} counts ${counters.sent} sent, ${counters.completed} completed; it was ${JSON.stringify(truth)}`,
        );
      }
      const loss = report.losses?.find(
        (each) => each.shardIndex === shard.shardIndex && each.attempt === shard.attempt,
      );
      // A probe whose slot was lost before the start is in no number.
      const isProbeOnly = plan.probe && shard.shardIndex === 0 && truth.sent === 1 && counters.sent === 0;
      if (loss === undefined && counters.sent !== truth.sent && !isProbeOnly) {
        wrongs.push(`${key} counts ${counters.sent} of ${truth.sent} although nothing is said to be lost`);
      }
      // Nobody stops a run that finishes: what an agent gave back as it left is booked as a loss.
      if (loss === undefined && run.state === 'finished' && counters.notSentStopped > 0) {
        wrongs.push(`${key} gave back ${counters.notSentStopped}, and nobody has noticed`);
      }
      if (loss === undefined && report.verdict.outcome === 'pass' && truth.isCutShort) {
        wrongs.push(`passed although ${key} was cut short, and nobody has noticed`);
      }
      if (loss?.unaccounted !== undefined && loss.unaccounted !== truth.sent - counters.sent) {
        wrongs.push(`${key} states ${loss.unaccounted} unaccounted, it is ${truth.sent - counters.sent}`);
      }
    }
    if (sent !== report.counters.sent) wrongs.push(`attempts sent ${sent}, the run ${report.counters.sent}`);
    const inSeconds = report.seconds.reduce((sum, second) => sum + second.completed, 0);
    if (inSeconds !== report.counters.completed) {
      wrongs.push(`the seconds have ${inSeconds} completed, the run ${report.counters.completed}`);
    }
    return wrongs;
  }
}

const FAULTS = [
  'killAgent',
  'killAgent',
  'freezeAgent',
  'freezeAgent',
  'partitionAgent',
  'partitionAgent',
  'cutSocket',
  'drainAgent',
  'addAgent',
  'addAgent',
  'killCoordinator',
  'killCoordinator',
  'stopQueue',
  'slowStore',
  'echoFrames',
  'forgeFrames',
] as const satisfies readonly (keyof Simulation)[];

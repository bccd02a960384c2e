// The coordinator's own decisions and books on virtual time, store and queue. It can be killed and started again.

import { AgentRegistry, CoordinatorEvents, RunService } from '@broadside/coordinator/core';
import {
  type AgentMessage,
  agentMessageSchema,
  BROADSIDE_VERSION,
  type CoordinatorMessage,
  decodeInterval,
  framesOf,
  LIMITS,
  PROTOCOL_VERSION,
} from '@broadside/shared';
import { pino } from 'pino';
import type { VirtualLink } from './virtual-link.js';
import type { VirtualQueue } from './virtual-queue.js';
import type { VirtualStore } from './virtual-store.js';
import { ProcessTimers, type VirtualTime } from './virtual-time.js';

const LIVENESS_CHECK_MS = 250;

interface AgentEnd {
  send(message: CoordinatorMessage): void;
  close(code: number, reason: string): void;
}

export class VirtualCoordinator {
  readonly timers: ProcessTimers;
  readonly events = new CoordinatorEvents();
  readonly runs: RunService;
  readonly #registry: AgentRegistry;
  readonly #time: VirtualTime;
  readonly #links = new Set<VirtualLink>();
  isOpen = false;

  constructor(time: VirtualTime, store: VirtualStore, queue: VirtualQueue) {
    this.#time = time;
    this.timers = new ProcessTimers(time);
    this.#registry = new AgentRegistry(time.clock);
    this.runs = new RunService({
      ...store.connect(this.timers),
      registry: this.#registry,
      queue: queue.connect(this.timers),
      events: this.events,
      clock: time.clock,
      timers: this.timers,
      log: pino({ level: process.env['SIMULATION_LOG'] ?? 'silent' }),
      canResume: true,
      gate: { assertAllowed: () => undefined, whyHeld: () => undefined },
    });
  }

  async open(): Promise<void> {
    await this.runs.open();
    this.isOpen = true;
    const check = (): void => {
      this.timers.after(LIVENESS_CHECK_MS, () => {
        for (const { id, name } of this.#registry.takeLost()) {
          this.events.emit('agent-lost', { agentId: id, agentName: name });
        }
        check();
      });
    };
    check();
  }

  kill(): void {
    this.isOpen = false;
    this.timers.die();
    this.events.removeAll();
    for (const link of this.#links) link.close();
  }

  /** The coordinator's end of a new connection. */
  accept(link: () => VirtualLink): { receive(payload: string | Uint8Array): void; closed(): void } {
    let agentId: string | undefined;
    const end: AgentEnd = {
      send: (message) => link().send(0, JSON.stringify(message)),
      close: () => link().close(),
    };
    return {
      receive: (payload) =>
        this.timers.run(() => {
          this.#links.add(link());
          if (typeof payload !== 'string') {
            if (agentId !== undefined) this.#onFrame(agentId, payload);
            return;
          }
          const message = agentMessageSchema.parse(JSON.parse(payload));
          if (message.kind === 'hello') {
            agentId = message.agentId;
            this.#onHello(message, end);
          } else if (agentId !== undefined) this.#onMessage(agentId, message, end);
        }),
      closed: () =>
        this.timers.run(() => {
          this.#links.delete(link());
          if (agentId === undefined) return;
          this.#registry.disconnected(agentId, end);
          this.events.emit('agent-changed', { agentId });
        }),
    };
  }

  /** A frame that somebody sends under this agent's name. */
  onForgedFrame(agentId: string, frame: Uint8Array): void {
    this.timers.run(() => this.#onFrame(agentId, frame));
  }

  #onHello(hello: Extract<AgentMessage, { kind: 'hello' }>, end: AgentEnd): void {
    this.#registry.join(hello, end);
    end.send({
      kind: 'welcome',
      protocol: PROTOCOL_VERSION,
      version: BROADSIDE_VERSION,
      queue: { kind: 'embedded' },
      heartbeatMs: LIMITS.heartbeatMs,
    });
    this.events.emit('agent-joined', { agentId: hello.agentId, attempts: hello.attempts });
  }

  #onMessage(agentId: string, message: Exclude<AgentMessage, { kind: 'hello' }>, end: AgentEnd): void {
    this.#registry.heard(agentId);
    switch (message.kind) {
      case 'heartbeat':
      case 'clock-offset':
      case 'forged':
        return;
      case 'clock-probe':
        end.send({ kind: 'clock-reply', sentUs: message.sentUs, coordinatorUs: this.#time.clock.epochUs() });
        return;
      case 'ready':
        this.events.emit('shard-ready', { agentId, shard: message.shard, warnings: [] });
        return;
      case 'refused':
        this.events.emit('shard-refused', { agentId, shard: message.shard, fatal: message.fatal });
        return;
      case 'probed':
        this.events.emit('shard-probed', { agentId, shard: message.shard, result: message.result });
        return;
      case 'abandoned':
        this.events.emit('shard-abandoned', { agentId, shard: message.shard, sent: message.sent });
        return;
      case 'draining':
        this.#registry.setDraining(agentId);
        this.events.emit('agent-changed', { agentId });
    }
  }

  #onFrame(agentId: string, frame: Uint8Array): void {
    this.#registry.heard(agentId);
    for (const each of framesOf(frame)) {
      this.events.emit('interval-arrived', { agentId, interval: decodeInterval(each), frame: each });
    }
  }
}

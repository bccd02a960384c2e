import {
  type AgentMessage,
  BROADSIDE_VERSION,
  formatCounted,
  type Interval,
  LIMITS,
  PROTOCOL_VERSION,
  type QueueAddress,
  type TargetPolicyTexts,
} from '@broadside/shared';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import type { Clock } from '../clock.js';
import type { CoordinatorEvents } from '../events.js';
import type { Upgrade } from '../http/upgrade-router.js';
import type { IntervalWriter } from '../interval/interval-writer.js';
import type { AgentRegistry, Hello, LostAgent } from './agent-registry.js';
import { AgentSocket, type AgentSocketEvents, CLOSE } from './agent-socket.js';

export interface AgentGatewayParts {
  readonly registry: AgentRegistry;
  readonly events: CoordinatorEvents;
  readonly writer: IntervalWriter;
  readonly queue: QueueAddress;
  readonly targets: TargetPolicyTexts;
  readonly shardKeys: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** How often silence is looked for. */
const LIVENESS_CHECK_MS = 250;
/** A check that comes this late says that the coordinator itself was away, not its agents. */
const OWN_PAUSE_MS = 1_000;
/** Time for sockets to answer our good-bye. */
const CLOSE_TIMEOUT_MS = 1_000;

const REASON_OF: Readonly<Record<LostAgent['sign'], string>> = {
  left: 'it said good-bye',
  disconnected: 'its connection broke, and it did not come back',
  silent: `nothing was heard of it for ${LIMITS.agentSilenceMs / 1_000} s`,
};

/** The WebSocket endpoint of the agents: checks, greets, and turns what arrives into events. */
export class AgentGateway implements AgentSocketEvents {
  readonly #parts: AgentGatewayParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: LIMITS.maxFrameBytes,
    perMessageDeflate: false,
  });
  /** Each with the token that it was let in with. */
  readonly #sockets = new Map<AgentSocket, string>();
  readonly #livenessTimer: NodeJS.Timeout;
  #afterReading: NodeJS.Immediate | undefined;
  #garbageCount = 0;
  #checkedAtMs: number;

  constructor(parts: AgentGatewayParts) {
    this.#parts = parts;
    this.#checkedAtMs = parts.clock.nowMs();
    parts.events.on('token-ended', ({ tokenId, reason }) => this.#dropHolders(tokenId, reason));
    this.#livenessTimer = setInterval(() => this.#checkLiveness(), LIVENESS_CHECK_MS);
  }

  /** Messages and frames that were no such thing, since the start. */
  get garbageCount(): number {
    return this.#garbageCount;
  }

  upgrade({ request, socket, head, caller }: Upgrade): void {
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      this.#sockets.set(new AgentSocket(accepted, this), caller.tokenId);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#livenessTimer);
    clearImmediate(this.#afterReading);
    for (const socket of this.#sockets.keys()) socket.close(CLOSE.goingAway, 'the coordinator is stopping');
    const timer = setTimeout(() => {
      for (const socket of this.#sockets.keys()) socket.terminate();
    }, CLOSE_TIMEOUT_MS);
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    clearTimeout(timer);
  }

  onHello(socket: AgentSocket, hello: Hello): void {
    const { registry, events, log, queue, targets, shardKeys } = this.#parts;
    registry.join(hello, socket);
    const name = registry.get(hello.agentId)?.name ?? hello.name;
    log.info(`agent ${name} (${hello.agentId}) joined with ${formatCounted(hello.slots, 'slot')}`);
    const isRenamed = name !== hello.name;
    if (isRenamed)
      log.warn(`another agent is called ${hello.name} already; agent ${hello.agentId} is ${name}`);
    socket.send({
      kind: 'welcome',
      protocol: PROTOCOL_VERSION,
      version: BROADSIDE_VERSION,
      queue,
      heartbeatMs: LIMITS.heartbeatMs,
      ...(isRenamed ? { name } : {}),
      targets,
      shardKeys: [...shardKeys],
    });
    events.emit('agent-joined', { agentId: hello.agentId, attempts: hello.attempts });
  }

  onMessage(socket: AgentSocket, message: Exclude<AgentMessage, Hello>): void {
    const { registry, events, clock, log } = this.#parts;
    const agentId = socket.agentId ?? '';
    registry.heard(agentId);
    switch (message.kind) {
      case 'heartbeat':
        return;
      case 'clock-probe':
        socket.send({ kind: 'clock-reply', sentUs: message.sentUs, coordinatorUs: clock.epochUs() });
        return;
      case 'clock-offset':
        registry.setClock(agentId, message.offsetUs, message.uncertaintyUs);
        return;
      case 'ready':
        events.emit('shard-ready', { agentId, shard: message.shard, warnings: message.warnings ?? [] });
        return;
      case 'refused':
        events.emit('shard-refused', { agentId, shard: message.shard, fatal: message.fatal });
        return;
      case 'probed':
        events.emit('shard-probed', { agentId, shard: message.shard, result: message.result });
        return;
      case 'abandoned':
        events.emit('shard-abandoned', { agentId, shard: message.shard, sent: message.sent });
        return;
      case 'forged':
        log.warn(
          `agent ${registry.get(agentId)?.name ?? agentId} refused jobs that this coordinator did not sign ` +
            `(${message.count} so far): ${message.reason}; somebody else writes to the queue's Redis`,
        );
        return;
      case 'draining':
        registry.setDraining(agentId);
        events.emit('agent-changed', { agentId });
    }
  }

  onInterval(socket: AgentSocket, interval: Interval, frame: Uint8Array): void {
    const { registry, events, writer } = this.#parts;
    const agentId = socket.agentId ?? '';
    registry.heard(agentId);
    events.emit('interval-arrived', { agentId, interval, frame });
    // The rest of a bundle may still come after the pause.
    if (!writer.isFull || socket.isPaused) return;
    // The store is slower than the agents: they keep their frames until it has caught up.
    // Its heartbeats wait behind its frames, so its silence meanwhile is ours.
    socket.pause();
    const heldUp = setInterval(() => registry.heard(agentId), LIMITS.heartbeatMs);
    void writer.whenRoom().then(() => {
      clearInterval(heldUp);
      registry.heard(agentId);
      socket.resume();
    });
  }

  onGarbage(socket: AgentSocket, reason: string): void {
    this.#garbageCount++;
    this.#parts.log.warn(`closed the socket of ${this.#nameOf(socket)}: ${reason}`);
  }

  onDefect(socket: AgentSocket, error: unknown): void {
    this.#parts.log.error({ err: error }, `a message of ${this.#nameOf(socket)} could not be handled`);
  }

  onClosed(socket: AgentSocket): void {
    this.#sockets.delete(socket);
    const { agentId } = socket;
    if (agentId === undefined) return;
    this.#parts.registry.disconnected(agentId, socket);
    this.#parts.events.emit('agent-changed', { agentId });
  }

  #dropHolders(tokenId: string, reason: string): void {
    for (const [socket, heldId] of this.#sockets) {
      if (heldId !== tokenId) continue;
      this.#parts.log.warn(`closed the socket of ${this.#nameOf(socket)}: ${reason}`);
      socket.close(CLOSE.policy, reason);
    }
  }

  #nameOf(socket: AgentSocket): string {
    if (socket.agentId === undefined) return 'an agent that has not said hello';
    return `agent ${this.#parts.registry.get(socket.agentId)?.name ?? socket.agentId}`;
  }

  #checkLiveness(): void {
    const { registry, clock, log } = this.#parts;
    const nowMs = clock.nowMs();
    const lateMs = nowMs - this.#checkedAtMs - LIVENESS_CHECK_MS;
    this.#checkedAtMs = nowMs;
    if (lateMs > OWN_PAUSE_MS) {
      log.warn(`the coordinator stood still for ${Math.round(lateMs)} ms; its agents get that time back`);
      registry.forgiveSilence(lateMs);
    }
    // What thousands of agents have said may lie unread in their sockets. The event loop reads all of them before it
    // comes to this: who was silent then is silent.
    clearImmediate(this.#afterReading);
    this.#afterReading = setImmediate(() => this.#dropLost(nowMs));
  }

  #dropLost(checkedAtMs: number): void {
    const { registry, events, log } = this.#parts;
    for (const agent of registry.takeLost(checkedAtMs)) {
      log.info(`agent ${agent.name} (${agent.id}) has gone: ${REASON_OF[agent.sign]}`);
      events.emit('agent-lost', { agentId: agent.id, agentName: agent.name });
    }
  }
}

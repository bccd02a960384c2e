/** A coordinator in this process with an embedded store, spoken to as any client does. */
import { request } from 'node:http';
import { type Coordinator, type CoordinatorOptions, startCoordinator } from '@broadside/coordinator';
import {
  type AgentSummary,
  isFinalState,
  type LiveMessage,
  liveMessageSchema,
  type PlanInput,
  ROUTES,
  type RunDetail,
  type RunSummary,
  runDetailSchema,
} from '@broadside/shared';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { SimulatedAgent, type SimulatedAgentOptions } from './simulated-agent.js';

/** Nothing listens at this target; simulated agents do not look. */
export const plan: PlanInput = {
  target: 'http://127.0.0.1:9/',
  requests: 1_003,
  connections: 7,
  keepAlive: true,
};

export class CoordinatorUnderTest {
  readonly coordinator: Coordinator;
  readonly #agents: SimulatedAgent[] = [];

  private constructor(coordinator: Coordinator) {
    this.coordinator = coordinator;
  }

  static async start(options: CoordinatorOptions = {}): Promise<CoordinatorUnderTest> {
    return new CoordinatorUnderTest(
      await startCoordinator({ logger: pino({ level: 'silent' }), ...options }),
    );
  }

  async join(options: SimulatedAgentOptions): Promise<SimulatedAgent> {
    const agent = await SimulatedAgent.join(this.coordinator, options);
    this.#agents.push(agent);
    return agent;
  }

  /** Takes all agents away, and waits until the coordinator has noticed. */
  async dismissAgents(): Promise<void> {
    for (const agent of this.#agents.splice(0)) await agent.leave();
    await until(async () => (await this.request<AgentSummary[]>('GET', ROUTES.agents)).body.length === 0);
  }

  async request<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.coordinator.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers }),
    });
    // The caller names what it expects; a wrong guess fails its assertions.
    return { status: response.status, body: (await response.json()) as T };
  }

  /** A path that is sent exactly as it stands. */
  rawRequest(method: string, path: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const { port } = this.coordinator;
      const asked = request({ host: '127.0.0.1', port, method, path }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk));
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
        response.once('error', reject);
      });
      asked.once('error', reject);
      asked.end();
    });
  }

  async post(given: PlanInput): Promise<string> {
    const { status, body } = await this.request<RunSummary>('POST', ROUTES.runs, given);
    if (status !== 201) throw new Error(`the run was not taken in: ${status} ${JSON.stringify(body)}`);
    return body.id;
  }

  socketUrl(path: string): string {
    return `${this.coordinator.url.replace('http', 'ws')}${path}`;
  }

  /** Watches a run to its final state. */
  watch(runId: string): Promise<LiveMessage[]> {
    return new Promise((resolve, reject) => {
      const messages: LiveMessage[] = [];
      const socket = new WebSocket(this.socketUrl(`${ROUTES.live}?run=${runId}`));
      socket.on('message', (payload: Buffer) => {
        messages.push(liveMessageSchema.parse(JSON.parse(payload.toString('utf8'))));
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(messages));
    });
  }

  async finished(runId: string): Promise<RunDetail> {
    await this.watch(runId);
    const { body } = await this.request<unknown>('GET', `${ROUTES.runs}/${runId}`);
    const detail = runDetailSchema.parse(body);
    if (!isFinalState(detail.state)) throw new Error(`run ${runId} is ${detail.state}`);
    return detail;
  }
}

/** Asks again every few milliseconds; the test's own timeout ends it. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

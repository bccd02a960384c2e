/** A coordinator and one agent in this process, and runs against targets in processes of their own. */
import { type Agent, startAgent } from '@broadside/agent';
import type { LiveMessage, PlanInput, Report } from '@broadside/shared';
import { CoordinatorUnderTest } from '../coordinator/coordinator-under-test.js';
import { type RunningProcess, startProcess } from '../support/process.js';

/** A machine that is busy with other things may leave a run undecided, and rightly; then it is run again. */
const ATTEMPTS = 4;

export interface JudgedRun {
  readonly report: Report;
  readonly messages: readonly LiveMessage[];
}

export class VerdictBench {
  readonly #cluster: CoordinatorUnderTest;
  readonly #agent: Agent;

  private constructor(cluster: CoordinatorUnderTest, agent: Agent) {
    this.#cluster = cluster;
    this.#agent = agent;
  }

  static async open(transport: 'auto' | 'socket'): Promise<VerdictBench> {
    const cluster = await CoordinatorUnderTest.start();
    const { url, joinToken, agentQueue } = cluster.coordinator;
    const agent = await startAgent({
      coordinatorUrl: url,
      joinToken,
      slots: 1,
      transport,
      ...(agentQueue === undefined ? {} : { queue: agentQueue }),
    });
    return new VerdictBench(cluster, agent);
  }

  /** Runs a plan until its verdict names a side, at most a few times. */
  async judge(plan: PlanInput): Promise<JudgedRun> {
    let judged = await this.run(plan);
    for (let attempt = 1; attempt < ATTEMPTS && judged.report.verdict.limit === 'undecided'; attempt++) {
      judged = await this.run(plan);
    }
    return judged;
  }

  async run(plan: PlanInput): Promise<JudgedRun> {
    const runId = await this.#cluster.post(plan);
    const messages = await this.#cluster.watch(runId);
    const { report, reason } = await this.#cluster.finished(runId);
    if (report === undefined) throw new Error(`the run has no report: ${reason}`);
    return { report, messages };
  }

  async close(): Promise<void> {
    await this.#agent.close();
    await this.#cluster.coordinator.close();
  }
}

export interface BurningTarget {
  readonly url: string;
  readonly process: RunningProcess;
}

/** A server of one thread that computes for `burnMs` over each reply, so that nothing else goes on meanwhile. */
export async function startBurningTarget(burnMs: number): Promise<BurningTarget> {
  const source = `
    const server = require('node:http').createServer((request, response) => {
      const end = performance.now() + ${burnMs};
      while (performance.now() < end);
      response.end('done');
    });
    server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/'));
  `;
  const started = await startProcess(process.execPath, ['-e', source]);
  return { url: await started.waitForLine(/^http:/), process: started };
}

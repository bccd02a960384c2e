// The self-test itself: between engine and target stands something that makes the numbers wrong.
import { connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseCluster } from '../../apps/cli/dist/cluster/choose-cluster.js';
import type { OpenCluster } from '../../apps/cli/dist/cluster/open-cluster.js';
import { StopSignals } from '../../apps/cli/dist/run/stop-signals.js';
import { type Finding, outcomeOf } from '../../apps/cli/dist/self-test/finding.js';
import { runSelfTest } from '../../apps/cli/dist/self-test/run-self-test.js';
import { scenariosOf } from '../../apps/cli/dist/self-test/scenarios.js';
import { TargetProcess } from '../../apps/cli/dist/self-test/target-process.js';

const REPLY = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

let cluster: OpenCluster;
let target: TargetProcess;
let liar: Liar;
beforeAll(async () => {
  const plan = { slots: 2, connections: 2 };
  cluster = await chooseCluster({ plan, onSlowStart: () => undefined })();
  target = await TargetProcess.start();
  liar = await Liar.start(target.url);
});
afterAll(async () => {
  await liar.close();
  await target.close();
  await cluster.close();
});

async function findingsOf(name: string, lie: Lie): Promise<readonly Finding[]> {
  const signals = new StopSignals();
  liar.lie = lie;
  try {
    const { findings } = await runSelfTest({
      scenarios: scenariosOf(true).filter((scenario) => scenario.name === name),
      attempts: 1,
      cluster,
      target: { url: liar.url, begin: (script) => target.begin(script), tell: () => target.tell() },
      signals,
      onNotice: () => undefined,
    });
    return findings;
  } finally {
    signals.dispose();
  }
}

const wrongOnes = (findings: readonly Finding[]): string[] =>
  findings.filter(({ outcome }) => outcome === 'wrong').map(({ what }) => what);

describe('the self-test', () => {
  it('notices one reply that the target has not sent', async () => {
    const findings = await findingsOf('keep-alive', 'answers-once');
    expect(outcomeOf(findings)).toBe('wrong');
    expect(wrongOnes(findings)).toEqual(
      expect.arrayContaining(['requests at the target', 'replies of the target']),
    );
  });

  it('notices replies that come before their delay is over, however busy the machine is', async () => {
    const findings = await findingsOf('delays', 'answers-always');
    expect(wrongOnes(findings)).toEqual(expect.arrayContaining(['replies of the target']));
    expect(outcomeOf(findings)).toBe('wrong');
  });

  it('has nothing to say against a path that only passes on', async () => {
    expect(wrongOnes(await findingsOf('failures', 'none'))).toEqual([]);
  });
});

type Lie = 'none' | 'answers-once' | 'answers-always';

/** Passes bytes on in both directions, and answers itself where it is to lie. */
class Liar {
  lie: Lie = 'none';
  url = '';
  readonly #server: Server;

  private constructor(targetPort: number) {
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
      const onward = connect({ port: targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
      client.on('data', (chunk: Buffer) => {
        const { lie } = this;
        if (lie === 'answers-once') this.lie = 'none';
        if (lie === 'none') onward.write(chunk);
        else client.write(REPLY);
      });
      onward.on('data', (chunk: Buffer) => client.write(chunk));
      client.on('end', () => onward.end());
      onward.on('end', () => client.end());
      // A reset is passed on as a reset, because it is one of the things that are counted.
      client.on('error', () => onward.resetAndDestroy());
      onward.on('error', () => client.resetAndDestroy());
    });
  }

  static async start(targetUrl: string): Promise<Liar> {
    const liar = new Liar(Number(new URL(targetUrl).port));
    await new Promise<void>((resolve) => liar.#server.listen(0, '127.0.0.1', resolve));
    const address = liar.#server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP address');
    liar.url = `http://127.0.0.1:${address.port}/`;
    return liar;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

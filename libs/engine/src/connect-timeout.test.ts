import { expect, it } from 'vitest';
import { runShardAgainst, shardFor } from './testing/run-shard-against.js';
import { SimulatedNetwork } from './testing/simulated-network.js';
import { CLOSE_CAUSE, type CloseCause } from './transport/transport.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Every second attempt to connect gets no answer; replies take 900 ms. */
class HalfDeaf extends SimulatedNetwork {
  constructor() {
    let attempts = 0;
    super({
      onOpen: () => (attempts++ % 2 === 0 ? undefined : { afterUs: 1_000 }),
      onSend: () => [{ afterUs: 900_000, bytes: OK }],
    });
  }
}

const shard = shardFor(80, {
  requests: 4,
  keepAlive: false,
  timeoutMs: 1_000,
  connection: { connectTimeoutMs: 50 },
});

it('bounds connecting apart from the request', async () => {
  const network = new HalfDeaf();
  const run = await runShardAgainst(shard, { clock: network, openTransport: () => network });
  expect(run.failures).toEqual({ connectTimeout: 2 });
  expect(run.count('completed')).toBe(2);
  // Two attempts of 50 ms, two replies of 900 ms, and the waits after the failed attempts.
  expect(network.elapsedUs).toBeLessThan(2_200_000);
});

it('leaves connecting to the timeout of the request where it is shorter, or the only one', async () => {
  for (const connection of [{ connectTimeoutMs: 60_000 }, {}]) {
    const network = new HalfDeaf();
    const run = await runShardAgainst(
      { ...shard, connection },
      { clock: network, openTransport: () => network },
    );
    expect(run.failures).toEqual({ connectTimeout: 2 });
    expect(network.elapsedUs).toBeGreaterThan(3_700_000);
  }
});

it('puts a connection that was held up on the way to whatever held it up', async () => {
  class Stalled extends HalfDeaf {
    abandon(connection: number): CloseCause {
      this.close(connection);
      return CLOSE_CAUSE.tls;
    }
  }
  const network = new Stalled();
  const run = await runShardAgainst(shard, { clock: network, openTransport: () => network });
  expect(run.failures).toEqual({ tls: 2 });
  expect(run.count('connectionsFailed')).toBe(2);
});

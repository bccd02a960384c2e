// The engine in this very process, for perf to look at: TRANSPORT CONNECTIONS PORT SECONDS.
import { runShardAgainst, shardFor } from '../../../libs/engine/dist/testing/run-shard-against.js';
import { chooseTransport } from '../../../libs/engine/dist/transport/choose-transport.js';

const [transport = '', connections, port, seconds] = process.argv.slice(2);
// The caller names one of them.
const choice = await chooseTransport(
  /** @type {import('../../../libs/engine/dist/transport/transport.js').TransportName} */ (transport),
);
const shard = shardFor(Number(port), {
  target: { path: '/100.html' },
  request: { headerLines: [`Host: 127.0.0.1:${port}`] },
  connections: Number(connections),
  durationMs: Number(seconds) * 1_000,
});
const run = await runShardAgainst(shard, { openTransport: (options) => choice.open(options) });
console.log(`${run.count('completed')} requests in ${seconds} s`);

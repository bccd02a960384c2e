// What single steps cost, in ns of CPU time: reading a reply, recording it, encoding, decoding and merging an interval,
// cutting a plan into shards. Each step is repeated for about --ms per round, in rounds in which each of them runs
// once. Prints a markdown table: median, and in brackets the middle half of the rounds.
//
// Usage: node test/bench/micro.mjs [--rounds 15] [--ms 100]
import { parseArgs } from 'node:util';
import { LiveHistogram } from '../../libs/engine/dist/recorder/live-histogram.js';
import { Recorder } from '../../libs/engine/dist/recorder/recorder.js';
import { ReplyMemory } from '../../libs/engine/dist/transport/reply-memory.js';
import { ResponseParser } from '../../libs/engine/dist/transport/response-parser.js';
import { ServerName } from '../../libs/engine/dist/transport/server-name.js';
import {
  decodeInterval,
  encodeInterval,
  GAUGE_NAMES,
  HISTOGRAM,
  Histogram,
  mergeNeighbours,
  parsePlan,
  splitPlan,
} from '../../libs/shared/dist/index.js';
import { machineFacts } from './parts/machine-facts.mjs';
import { inTurn, line, withSpread } from './parts/statistics.mjs';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, ms: { type: 'string', default: '100' } },
});
const rounds = Number(values.rounds);
const roundMs = Number(values.ms);
const LIMITS = { maxHeaderBytes: 65_536, maxBodyBytes: 1e9 };

/** @param {number} length of the value of a field that changes with each of both replies */
function parser(length) {
  const share = { serverName: new ServerName(), memory: new ReplyMemory() };
  const replies = ['a', 'b'].map((letter) =>
    new TextEncoder().encode(
      `HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/html\r\nX-Id: ${letter.repeat(length)}\r\n` +
        `Content-Length: 100\r\nConnection: keep-alive\r\n\r\n${'0'.repeat(100)}`,
    ),
  );
  const responses = new ResponseParser(LIMITS, share);
  return (/** @type {number} */ i) => {
    const reply = replies[length === 0 ? 0 : i & 1] ?? new Uint8Array(0);
    responses.begin(false);
    responses.feed(reply, 0, reply.length);
  };
}

/** An interval as 50 000 requests leave it. @param {number} number */
function interval(number) {
  const recorder = new Recorder();
  for (let i = 0; i < 50_000; i++) {
    recorder.reused.record(100 + (i % 1_000) * 3);
    recorder.wait.record(90 + (i % 1_000) * 3);
    recorder.countStatus(200);
  }
  const attempt = { runId: 'bench', shardIndex: 0, attempt: 1 };
  const observations = recorder.take(new Float64Array(GAUGE_NAMES.length));
  return { ...attempt, number, span: 1, isLast: false, ...observations };
}

const histogram = new LiveHistogram();
const [first, second] = [interval(0), interval(1)];
const latencies = first.histograms[HISTOGRAM.reused];
if (latencies === undefined) throw new Error('there are no latencies');
const sum = new Histogram();
const frame = encodeInterval(first);
const parsed = parsePlan({ target: 'http://127.0.0.1/', requests: 1_000_000, connections: 10_000 });
if (!parsed.ok) throw new Error('the plan is refused');
const { plan } = parsed;

/** @type {ReadonlyMap<string, (i: number) => unknown>} */
const steps = new Map(
  Object.entries({
    'read a reply that repeats the last one': parser(0),
    'read a reply that differs': parser(8),
    'record a latency': (/** @type {number} */ i) => histogram.record(100 + (i & 1_023)),
    [`encode an interval (${frame.length} bytes)`]: () => encodeInterval(first),
    'decode it': () => decodeInterval(frame),
    'add its latencies to a sum': () => sum.addSparse(latencies),
    'merge it with its neighbour': () => mergeNeighbours(first, second),
    'cut a plan into 1 000 shards': () => splitPlan(plan, 'bench', 1_000),
  }),
);

/**
 * @param {(i: number) => unknown} step
 * @returns ns of CPU time per call
 */
function measure(step) {
  let calls = 0;
  const before = process.cpuUsage();
  let usedUs = 0;
  for (let batch = 1; usedUs < roundMs * 1_000; batch = Math.min(batch * 2, 4_096)) {
    for (let i = 0; i < batch; i++) step(i);
    calls += batch;
    const { user, system } = process.cpuUsage(before);
    usedUs = user + system;
  }
  return (usedUs * 1_000) / calls;
}

/** @type {Map<string, number[]>} */
const results = new Map([...steps.keys()].map((name) => [name, []]));
for (let round = -1; round < rounds; round++) {
  for (const [name, step] of inTurn([...steps], round)) {
    const ns = measure(step);
    // The first round is for V8 to compile what is hot.
    if (round >= 0) results.get(name)?.push(ns);
  }
}
console.log(`${rounds} rounds of ${roundMs} ms. ${machineFacts()}\n`);
console.log(`${line('step', 'ns')}\n${line('---', '---:')}`);
for (const [name, all] of results) console.log(line(name, withSpread(all, 0)));

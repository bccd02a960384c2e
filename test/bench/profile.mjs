// Where every µs of a request goes: samples of the CPU clock (perf record -e cpu-clock), each counted for the first
// group of the table that its call chain belongs to, and divided by the requests of that time. Sampling costs some CPU
// time itself. The generator is sampled as a whole process, once V8 has compiled what is hot. Needs perf and the right
// to look into the kernel.
//
// Usage: node test/bench/profile.mjs [--seconds 6] [--connections 100] [--only io_uring,epoll,wrk]
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { machineFacts } from './parts/machine-facts.mjs';
import { GENERATOR_CORE, pinned, withTarget } from './parts/programs.mjs';
import { line } from './parts/statistics.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '100' },
    only: { type: 'string', default: 'io_uring,epoll,wrk' },
  },
});
const run = promisify(execFile);
const WARM_UP_SECONDS = 4;
const SAMPLES_PER_SECOND = 4_999;
const [seconds, connections] = [Number(values.seconds), Number(values.connections)];
const PROFILED = new URL('./parts/profiled-engine.mjs', import.meta.url).pathname;

/**
 * The first that fits any function of a sample's call chain names it: what the target's side of the loopback does runs
 * inside our send, so it comes before the send.
 * @type {readonly (readonly [name: string, pattern: RegExp])[]}
 */
const GROUPS = [
  ['kernel: receiving side of what was sent, run inside the send (softirq)', /net_rx_action|handle_softirqs/],
  ['kernel: send', /tcp_sendmsg|sock_sendmsg|io_send|__sys_sendto|ksys_write/],
  ['kernel: receive', /tcp_recvmsg|sock_recvmsg|io_recv|__sys_recvfrom|ksys_read/],
  ['kernel: epoll_ctl', /epoll_ctl/],
  [
    'kernel: wait, wake and switch',
    /epoll_wait|epoll_pwait|schedule|io_cqring_wait|io_run_task_work|task_work/,
  ],
  ['kernel: rings of io_uring', /io_uring|io_submit|io_issue/],
  ['kernel: entry of system calls and the rest', /_\[k\]$/],
  ['user: FFI (koffi, N-API)', /koffi|napi|v8impl|HandleApiCall|CallApiCallback/],
  ['user: parser', /response-parser|reply-memory|http_parser|chunked-body/],
  ['user: recorder', /\/recorder\//],
  ['user: load', /\/load\/|deadlines|engine\.js/],
  ['user: transport', /\/transport\//],
  ['user: clock', /performance|clock_gettime|clock\.js/],
];
const REST = 'user: the rest (V8, collector, C library, shell of wrk)';

/**
 * @param {string} script what `perf script` prints: samples with a function on each line, the innermost first
 * @returns {Map<string, number>} samples by group
 */
function groupSamples(script) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const sample of script.split('\n\n')) {
    const frames = sample
      .split('\n')
      .slice(1)
      .map((text) => text.trim().replace(/^[0-9a-f]+ /, ''))
      .map((text) => (text.includes('[kernel') ? `${text.replace(/\+0x.*$/, '')}_[k]` : text));
    if (frames.length === 0 || frames[0] === '') continue;
    // User code is counted by its innermost function that belongs somewhere: everything has a load below it.
    const isKernel = frames[0]?.endsWith('_[k]') ?? false;
    const name = isKernel
      ? GROUPS.find(([, pattern]) =>
          frames.some((frame) => frame.endsWith('_[k]') && pattern.test(frame)),
        )?.[0]
      : frames
          .map(
            (frame) =>
              GROUPS.find(([group, pattern]) => group.startsWith('user') && pattern.test(frame))?.[0],
          )
          .find((group) => group !== undefined);
    counts.set(name ?? REST, (counts.get(name ?? REST) ?? 0) + 1);
  }
  return counts;
}

/**
 * @param {string} name
 * @param {number} port
 * @param {string} folder
 */
async function profile(name, port, folder) {
  const url = `http://127.0.0.1:${port}/100.html`;
  const total = String(WARM_UP_SECONDS + seconds);
  const node = [process.execPath, '--perf-basic-prof-only-functions', PROFILED];
  const generator =
    name === 'wrk'
      ? ['wrk', '-t1', `-c${connections}`, `-d${total}s`, url]
      : [...node, name, String(connections), String(port), total];
  const data = join(folder, name);
  const perf = [
    'perf',
    'record',
    '-q',
    '-D',
    String(WARM_UP_SECONDS * 1_000),
    '-F',
    '4999',
    '-g',
    '-e',
    'cpu-clock',
  ];
  const [file, args] = pinned(GENERATOR_CORE, [...perf, '-o', data, ...generator]);
  const { stdout } = await run(file, args);
  const script = await run('perf', ['script', '-i', data, '-F', 'comm,ip,sym,dso'], { maxBuffer: 2 ** 30 });
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const usPerSample = 1e6 / SAMPLES_PER_SECOND / ((requests * seconds) / (WARM_UP_SECONDS + seconds));
  return { counts: groupSamples(script.stdout), usPerSample };
}

const folder = await mkdtemp(join(tmpdir(), 'broadside-bench-'));
try {
  console.log(`${connections} connections, ${seconds} s of samples. ${machineFacts()}\n`);
  await withTarget(async ({ port }) => {
    const names = values.only.split(',');
    const seen = [];
    for (const name of names) seen.push(await profile(name, port, folder));
    const head = ['CPU µs per request', ...names];
    console.log(`${line(...head)}\n${line('---', ...names.map(() => '---:'))}`);
    for (const group of [...GROUPS.map(([name]) => name), REST]) {
      const costs = seen.map(({ counts, usPerSample }) => (counts.get(group) ?? 0) * usPerSample);
      console.log(line(group, ...costs.map((us) => us.toFixed(2))));
    }
    const sums = seen.map(({ counts, usPerSample }) => {
      return [...counts.values()].reduce((sum, count) => sum + count, 0) * usPerSample;
    });
    console.log(line('all', ...sums.map((us) => us.toFixed(2))));
  });
} finally {
  await rm(folder, { recursive: true });
}

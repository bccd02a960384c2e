// Preloaded into the coordinator of a scale test (`node --import`): once a second it writes how long its event loop
// was held up, as one JSON line, to the file of BROADSIDE_SCALE_LOOP_DELAY. Only on the main thread.
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const path = process.env['BROADSIDE_SCALE_LOOP_DELAY'];
if (isMainThread && path !== undefined) {
  const resolutionMs = 10;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  setInterval(() => {
    // What the histogram holds are the times between two looks.
    const ms = (/** @type {number} */ ns) => Math.max(ns / 1e6 - resolutionMs, 0);
    const { heapUsed, external } = process.memoryUsage();
    const line = {
      atMs: Date.now(),
      p50Ms: ms(delay.percentile(50)),
      p99Ms: ms(delay.percentile(99)),
      maxMs: ms(delay.max),
    };
    appendFileSync(path, `${JSON.stringify({ ...line, heapUsed, external })}\n`);
    delay.reset();
  }, 1_000).unref();
}

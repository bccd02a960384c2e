import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { MAIN, type StartedTarget, startBroadside, startTarget } from './broadside.js';

let target: StartedTarget;
beforeAll(async () => {
  target = await startTarget(['--delay', '2ms']);
});
afterAll(async () => {
  await target.process.stop();
});

/** The first line of progress tells that the load is on its way. */
const RUNNING = /^\d+s {2}/;

describe('the first signal stops the load and the report says what was done', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s ends a run with %d', async (signal, code) => {
    const run = await startBroadside(['run', '-d', '60s', '-c', '3', target.url]);
    await run.waitForLine(RUNNING);
    run.signal(signal);
    expect(await run.exit).toEqual({ exitCode: code, signal: null });
    expect(run.stdout()).toMatch(/balance: [\d,]+ planned = [1-9][\d,]* completed/);
  });

  it('SIGINT ends ab with 1, without its end line', async () => {
    const run = await startBroadside(['ab', '-t', '60', '-c', '50', target.url]);
    await run.waitForLine(/^Completed 5000 requests/);
    run.signal('SIGINT');
    expect(await run.exit).toEqual({ exitCode: 1, signal: null });
    expect(run.stdout()).toMatch(/^Complete requests: +[1-9]/m);
    expect(run.stderr()).not.toContain('Finished');
  });
});

describe('the second signal', () => {
  it('leaves at once', async () => {
    const run = await startBroadside(['run', '-d', '60s', '-c', '3', target.url]);
    await run.waitForLine(RUNNING);
    run.signal('SIGINT');
    await run.waitForLine(/a second signal leaves at once/);
    run.signal('SIGINT');
    expect(await run.exit).toEqual({ exitCode: 130, signal: null });
  });
});

describe('a reader that goes away', () => {
  it('ends the command without a word', async () => {
    const script = '{ "$0" "$1" ab -q -n 20 -c 2 "$2"; echo "code $?" >&2; } | true';
    const result = await runProcess('/bin/sh', ['-c', script, process.execPath, MAIN, target.url]);
    expect(result.stderr).toMatch(/^code 0$/m);
    expect(result.stderr).not.toMatch(/EPIPE|at .*\.js/);
  });
});

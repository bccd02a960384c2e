import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorBodySchema, ROUTES } from '@broadside/shared';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { broadside, closedPort, startBroadside } from '../cli/broadside.js';
import { canRun } from '../support/programs.js';
import { runRealAb } from '../support/real-ab.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { fire, reportOf, startRun } from './command-line.js';
import { PrivateFolder } from './left-behind.js';
import { type StartedCoordinator, startServe } from './started-cluster.js';

describe.runIf(canRun('ab'))('a mistake on the command line of ab', () => {
  const url = 'http://127.0.0.1:9/';
  it.each([
    ['-n abc', ['-n', 'abc', url]],
    ['-n 0', ['-n', '0', url]],
    ['more connections than requests', ['-c', '5', '-n', '2', url]],
    ['a negative concurrency', ['-n', '5', '-c', '-3', url]],
    ['no URL', ['-n', '5']],
    ['a URL without a path', ['-n', '5', 'http://127.0.0.1:9']],
    ['an option without its value', ['-n']],
    ['HEAD with a body', ['-i', '-p', 'form', url]],
    ['a body file that is not there', ['-p', join('no', 'such', 'file'), url]],
  ])('ends with the exit code and the reason of the real ab: %s', async (_title, words) => {
    const theirs = await runRealAb(words);
    const ours = await broadside(['ab', ...words]);
    expect(ours.exitCode).toBe(theirs.exitCode);
    expect(reasonOf(ours.stderr)).toBe(reasonOf(theirs.stderr));
    expect(ours.stdout).toBe('');
  });

  it('ends with the exit code and the reason of the real ab when nobody listens', async () => {
    const words = ['-n', '10', `http://127.0.0.1:${await closedPort()}/`];
    const theirs = await runRealAb(words);
    const ours = await broadside(['ab', ...words]);
    expect(ours.exitCode).toBe(theirs.exitCode);
    expect(reasonOf(ours.stderr)).toBe(reasonOf(theirs.stderr));
  });

  /** The first line that says something; ours has no page of options behind it. */
  function reasonOf(stderr: string): string {
    const line = stderr.split('\n').find((each) => each.trim() !== '') ?? '';
    // Each program begins with the name it was called by; the text of the system's errors is worded differently.
    return line
      .replace(/^\S*ab: /, 'ab: ')
      .replace(/(Could not open POST data file \(.*?\)): .*/, '$1')
      .replace(/^ab: invalid URL.*/, 'ab: invalid URL')
      .toLowerCase();
  }
});

describe('whatever goes wrong', () => {
  const target = new WellBehavedTarget();
  let folder: PrivateFolder;
  beforeAll(() => target.start());
  afterAll(() => target.stop());
  beforeEach(async () => {
    folder = await PrivateFolder.create();
  });
  afterEach(() => folder.remove());

  it.each([
    ['a refused port', ['ab', '-n', '9', 'http://127.0.0.1:REFUSED/'], 111],
    ['a name that is not known', ['run', '-n', '90', 'http://name.invalid/'], 4],
  ])('one command leaves no process and no file: %s', async (_title, words, exitCode) => {
    const port = String(await closedPort());
    const result = await broadside(
      words.map((word) => word.replace('REFUSED', port)),
      folder.env,
    );
    expect(result.exitCode).toBe(exitCode);
    expect(await folder.processes()).toEqual([]);
    expect(await folder.files()).toEqual([]);
  });

  it('a JSON file that can no longer be written costs the file, and not the report', async () => {
    const away = join(folder.path, 'away');
    await mkdir(away);
    const words = ['run', '-d', '2s', '-c', '2', '--json', join(away, 'r.json'), `${target.url}/`];
    const run = await startBroadside(words, folder.env);
    await run.waitForLine(/^\d+s {2}/);
    await rm(away, { recursive: true });
    expect(await run.exit).toEqual({ exitCode: 6, signal: null });
    expect(run.stdout()).toMatch(/planned = /);
    expect(run.stderr()).toMatch(/^broadside: cannot write .*r\.json: .+$/m);
    expect(await folder.files()).toEqual([]);
  });

  it('a plan file is refused with its line, and nothing is sent', async () => {
    const seenBefore = target.counters.requestsSeen;
    const path = join(folder.path, 'plan.yaml');
    await writeFile(path, `target: ${target.url}/\nrequests: 10\n  connections: 2\n`);
    const broken = await broadside(['run', path], folder.env);
    expect(broken.exitCode).toBe(2);
    expect(broken.stderr).toMatch(/^broadside: .*plan\.yaml:[23]:\d+: not valid YAML: .+\n$/);
    await writeFile(path, `target: ${target.url}/\nrequests: 10\nconnections: many\n`);
    const wrong = await broadside(['run', path], folder.env);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toMatch(/^broadside: .*plan\.yaml:3:1: connections: .+\n$/);
    expect(target.counters.requestsSeen).toBe(seenBefore);
  });
});

describe('a coordinator at which strangers throw things', () => {
  const target = new WellBehavedTarget({ delayMs: 2 });
  let coordinator: StartedCoordinator;
  beforeAll(async () => {
    await target.start();
    const env = { BROADSIDE_TOKEN: 'an-api-token-of-this-test', BROADSIDE_JOIN_TOKEN: 'a-join-token-of-it' };
    coordinator = await startServe(['--slots', '2'], env);
  });
  afterAll(async () => {
    await coordinator.process.stop();
    await target.stop();
  });

  it('carries a run to its end meanwhile, and lasts', async () => {
    const where = ['--coordinator', coordinator.url, '--token', 'an-api-token-of-this-test'];
    const seenBefore = target.counters.requestsSeen;
    const run = await startRun(['run', ...where, '-n', '3001', '-c', '4', `${target.url}/`]);
    await run.process.waitForLine(/^\d+s {2}/);
    const residentBefore = await residentBytes(coordinator.process.pid);
    await Promise.all([throwFrames(coordinator.url), postHugeBody(coordinator.url)]);
    const grownBytes = (await residentBytes(coordinator.process.pid)) - residentBefore;
    expect(grownBytes).toBeLessThan(100_000_000);
    const fired = await run.ended;
    expect(fired.exitCode).toBe(0);
    expect(reportOf(fired).counters).toMatchObject({ planned: 3_001, completed: 3_001 });
    expect(target.counters.requestsSeen - seenBefore).toBe(3_001);
  });

  it('refuses a run with a wrong token, in one line that does not repeat it', async () => {
    const words = ['run', '--coordinator', coordinator.url, '--token', 'wrong-and-secret', '-n', '50'];
    const fired = await fire([...words, `${target.url}/`]);
    expect(fired.exitCode).toBe(5);
    expect(fired.stderr).toMatch(/^broadside: .*token.*\n$/);
    expect(fired.stdout + fired.stderr).not.toContain('wrong-and-secret');
  });
});

/** Garbage on the agent socket, from strangers without a token and from one that has it. */
async function throwFrames(url: string): Promise<void> {
  const address = `${url.replace('http', 'ws')}${ROUTES.agentSocket}`;
  const strangers = await Promise.all(
    ['wrong', 'a-join-token-of-it', 'a-join-token-of-it'].map(
      (token, i) =>
        new Promise<number>((resolve) => {
          const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } });
          socket.on('open', () =>
            socket.send(i === 1 ? randomBytes(500_000) : '{"kind":"hello","slots":-1}'),
          );
          socket.on('unexpected-response', (_request, response) => {
            response.destroy();
            resolve(response.statusCode ?? 0);
          });
          socket.on('error', () => undefined); // The close or the refusal follows, and is what is judged.
          socket.on('close', (code) => resolve(code));
        }),
    ),
  );
  expect(strangers[0]).toBe(401);
  for (const code of strangers.slice(1)) expect([1003, 1008, 1009]).toContain(code);
}

async function postHugeBody(url: string): Promise<void> {
  const response = await fetch(url + ROUTES.runs, {
    method: 'POST',
    body: Buffer.alloc(100_000_000, 0x20),
    headers: { 'content-type': 'application/json', authorization: 'Bearer an-api-token-of-this-test' },
  });
  expect(response.status).toBe(413);
  expect(errorBodySchema.parse(await response.json()).error.code).toBe('tooLarge');
}

/** Memory that a process holds (Linux). */
async function residentBytes(pid: number): Promise<number> {
  const pages = (await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1];
  return Number(pages) * 4_096;
}

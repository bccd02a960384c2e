// A store that is lost under a running coordinator: what is told, to whom, and how often.
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ErrorBody, ROUTES } from '@broadside/shared';
import { type Logger, pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PostgresServer } from '../support/postgres.js';
import { canRun } from '../support/programs.js';
import { CoordinatorUnderTest, plan, until } from './coordinator-under-test.js';

/** What was logged, as JSON lines. */
function recorded(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  return { lines, logger: pino({ level: 'info' }, { write: (line: string) => void lines.push(line) }) };
}

/** Fields of a database client, and traces of code, that a log must not have. */
const TOO_MUCH = /secretKey|processID|connectionParameters|"stack"/;

describe('a coordinator whose data directory', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-lost-'));
    path = join(folder, 'store');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['is moved away', () => rename(path, `${path}-moved`)],
    ['is removed', () => rm(path, { recursive: true })],
  ])('%s is not ready, refuses runs and says why', async (_title, lose) => {
    const { lines, logger } = recorded();
    const under = await CoordinatorUnderTest.start({ dataDir: path, logger });
    try {
      await under.join({ agentId: 'one', slots: 1 });
      expect((await under.request('GET', '/readyz')).status).toBe(200);
      await lose();
      const ready = await under.request<ErrorBody>('GET', '/readyz');
      expect(ready.status).toBe(503);
      expect(ready.body.error.message).toBe(
        'not ready: store (the store: its data directory was removed or moved away)',
      );
      const refused = await under.request<ErrorBody>('POST', ROUTES.runs, plan);
      expect({ status: refused.status, code: refused.body.error.code }).toEqual({
        status: 503,
        code: 'unavailable',
      });
      expect(refused.body.error.message).toBe(
        `the coordinator has lost its store: the data directory ${path} was removed or moved away`,
      );
    } finally {
      await under.coordinator.close();
    }
    expect(lines.join('')).not.toMatch(TOO_MUCH);
  });

  it('is removed under a run ends it at once, and says so in one line', async () => {
    const { lines, logger } = recorded();
    const under = await CoordinatorUnderTest.start({ dataDir: path, logger });
    const gone =
      `the coordinator has lost its store: the data directory ${path} was removed or moved away; ` +
      'put that right, and start the coordinator again';
    try {
      let release: () => void = () => undefined;
      const holdAfterFirst = new Promise<void>((resolve) => {
        release = resolve;
      });
      const agent = await under.join({ agentId: 'one', slots: 1, holdAfterFirst });
      const runId = await under.post(plan);
      await agent.next((message) => message.kind === 'ack');
      await rm(path, { recursive: true });
      const ended = under.finished(runId);
      release();
      expect(await ended).toMatchObject({ state: 'failed', reason: gone });
    } finally {
      await under.coordinator.close();
    }
    const told = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(told.filter((msg) => msg.startsWith(gone))).toEqual([`${gone}; runs are stopped until then`]);
    expect(lines.join('')).not.toMatch(TOO_MUCH);
  });
});

describe.runIf(canRun('postgres'))('a coordinator whose database server goes away', () => {
  it('logs what happened without the keys of its connections, and not again and again', async () => {
    const postgres = await PostgresServer.start();
    const { lines, logger } = recorded();
    const under = await CoordinatorUnderTest.start({ databaseUrl: postgres.url, logger });
    try {
      await postgres.crash();
      await until(() => Promise.resolve(lines.some((line) => line.includes('store or queue'))));
      const answer = await under.request<ErrorBody>('GET', ROUTES.runs);
      expect(answer).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
      expect(lines.join('')).not.toMatch(TOO_MUCH);
      const messages = lines.map((line) => JSON.parse(line) as { msg: string; err?: { message: string } });
      const told = messages.map(({ msg, err }) => `${msg}: ${err?.message}`);
      expect(new Set(told).size).toBe(told.length);
      await postgres.restart();
    } finally {
      await under.coordinator.close();
      await postgres.stop();
    }
  });
});

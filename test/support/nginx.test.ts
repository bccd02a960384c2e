import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shapeOf } from './ab-shape.js';
import { NginxServer } from './nginx.js';
import { canRun } from './programs.js';
import { runRealAb } from './real-ab.js';

describe.runIf(canRun('nginx', 'ab'))('NginxServer and the real ab', () => {
  let nginx: NginxServer;
  let url: string;

  beforeAll(async () => {
    nginx = await NginxServer.start({ keepaliveRequests: 100, isLogged: true, pages: { 'one.txt': '1' } });
    url = `${nginx.url}/100.html`;
  });
  afterAll(() => nginx.stop());

  it('serves exactly 100 bytes and the pages it was given', async () => {
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(100);
    expect(await (await fetch(`${nginx.url}/one.txt`)).text()).toBe('1');
  });

  it('closes a connection after the announced number of requests, as its log shows', async () => {
    const run = await runRealAb(['-n', '1000', '-c', '4', '-k', url]);
    // The reply that announces the close does not count as kept alive: one in a hundred.
    expect(run.report?.completeRequests).toBe(1000);
    expect(run.report?.keepAliveRequests).toBeGreaterThanOrEqual(990);
    expect(run.report?.keepAliveRequests).toBeLessThan(1000);
    const log = (await nginx.accessLog()).filter((entry) => entry.requestLine === 'GET /100.html HTTP/1.0');
    expect(log).toHaveLength(1000);
    expect(Math.max(...log.map((entry) => entry.requestOnConnection))).toBe(100);
    expect(new Set(log.map((entry) => entry.status))).toEqual(new Set([200]));
  });

  it('gives reports that the strict parser knows, whatever the options', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'broadside-ab-'));
    const body = join(folder, 'body');
    await writeFile(body, 'powder');
    const variants = [
      ['-n', '1', url],
      ['-n', '200', '-c', '10', '-k', url],
      ['-n', '200', '-q', url],
      ['-n', '20', '-S', '-d', url],
      ['-n', '20', '-l', '-i', url],
      ['-n', '20', '-p', body, `${nginx.url}/nowhere`],
    ];
    const shapes: string[][] = [];
    for (const args of variants) {
      const run = await runRealAb(args);
      expect(run.report, run.stdout).toBeDefined();
      shapes.push(shapeOf(run.stdout));
    }
    expect(shapes[5]).toContain('                        {fixed2} kb/s sent');
    expect(shapes[3]).toContain('Total:      {intw5} {intw5}{intw5}');
    expect(new Set(shapes.map((shape) => shape.join('\n'))).size).toBe(variants.length);
    await rm(folder, { recursive: true });
  });

  it('has no report when ab gives up, and the exit code says so', async () => {
    const run = await runRealAb(['-n', 'abc', url]);
    expect(run).toMatchObject({ exitCode: 1, report: undefined });
  });
});

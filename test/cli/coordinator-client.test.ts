import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { broadside } from './broadside.js';

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(
    servers.splice(0).map(async (server) => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    }),
  );
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return `http://127.0.0.1:${address.port}`;
}

function runAt(url: string): ReturnType<typeof broadside> {
  return broadside(['run', '-q', '-n', '1', '-c', '1', '--coordinator', url, 'http://127.0.0.1:9/'], {
    BROADSIDE_TOKEN: 'very-secret-token',
  });
}

describe('a service that is no coordinator, or one that refuses', () => {
  it.each([
    [200, '<html>hello</html>', /does not understand; is it a Broadside coordinator/],
    [200, '{"id":"x"}', /does not understand .*field/],
    [404, 'not found', /answered with status 404, but not as a Broadside coordinator/],
    [302, '', /answered with status 302/],
    [401, 'who are you', /refused the token/],
    [
      401,
      '{"error":{"code":"unauthorized","message":"no"}}',
      /: no; give another one by BROADSIDE_TOKEN or --token-file/,
    ],
    [429, '{"error":{"code":"busy","message":"too many runs wait"}}', /: too many runs wait/],
  ])('status %d with %j gives one clear line and code 5', async (status, body, line) => {
    const url = await listen((_request, response) => response.writeHead(status).end(body));
    const result = await runAt(url);
    expect(result.stderr).toMatch(line);
    expect(result.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(result.exitCode).toBe(5);
    expect(result.stdout + result.stderr).not.toContain('very-secret-token');
  });

  it('that lists what is wrong with the plan gives code 2, and each problem once', async () => {
    const error = {
      code: 'invalid',
      message: 'not valid: slots: too many',
      hint: 'take fewer',
      problems: [{ path: 'slots', message: 'too many' }],
    };
    const url = await listen((_request, response) => response.writeHead(400).end(JSON.stringify({ error })));
    const result = await runAt(url);
    expect(result.stderr).toMatch(/^broadside: http:\S+: not valid: slots: too many; take fewer\n$/);
    expect(result.exitCode).toBe(2);
  });

  it('that closes without an answer gives code 5', async () => {
    const url = await listen((request) => request.socket.destroy());
    const result = await runAt(url);
    expect(result.stderr).toMatch(/^broadside: cannot reach the coordinator at /);
    expect(result.exitCode).toBe(5);
  });
});

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExitCode } from '../support/process.js';
import { broadside, type StartedTarget, startTarget } from './broadside.js';

let target: StartedTarget;
let port = 0;
beforeAll(async () => {
  target = await startTarget(['--size', '10']);
  port = Number(new URL(target.url).port);
});
afterAll(async () => {
  await target.process.stop();
});

/** Sends pieces one after the other and gives everything that came until the target closed. */
function exchange(pieces: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    socket.on('error', reject).on('close', () => resolve(received));
    for (const piece of pieces) socket.write(piece, 'latin1');
  });
}

const HEAD =
  'HTTP/1.1 200 OK\r\nServer: broadside-target\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n';
const CLOSING = `${HEAD}Connection: close\r\n\r\n${'x'.repeat(10)}`;
const KEPT = `${HEAD}\r\n${'x'.repeat(10)}`;
const LAST = 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n';

describe('the target', () => {
  it('closes after an HTTP/1.0 request', async () => {
    expect(await exchange(['GET / HTTP/1.0\r\n\r\n'])).toBe(CLOSING);
  });

  it('says keep-alive to an HTTP/1.0 client that asks for it', async () => {
    const kept = `${HEAD}Connection: keep-alive\r\n\r\n${'x'.repeat(10)}`;
    expect(await exchange(['GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n', LAST])).toBe(kept + CLOSING);
  });

  it('answers pipelined requests in order, however they are cut', async () => {
    const requests = `${'GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(3)}${LAST}`;
    expect(await exchange([requests])).toBe(KEPT.repeat(3) + CLOSING);
    expect(await exchange(requests.split(''))).toBe(KEPT.repeat(3) + CLOSING);
  });

  it('sends no body to HEAD, and passes over the body of a request', async () => {
    expect(await exchange(['HEAD / HTTP/1.1\r\n\r\n', LAST])).toBe(`${HEAD}\r\n${CLOSING}`);
    const post = `POST / HTTP/1.1\r\nContent-Length: 20\r\n\r\n${'GET / HTTP/1.1\r\n\r\n'.padEnd(20)}`;
    expect(await exchange([post, LAST])).toBe(KEPT + CLOSING);
  });

  it.each([
    ['garbage\r\n\r\n', '400 Bad Request'],
    ['POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n', '411 Length Required'],
    [`GET / HTTP/1.1\r\nX: ${'a'.repeat(70_000)}`, '431 Request Header Fields Too Large'],
  ])('refuses what it cannot answer: %.20j', async (request, status) => {
    expect(await exchange([request])).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
  });

  it('says clearly that its port is taken', async () => {
    const result = await broadside(['target', '--port', String(port)]);
    expect(result.stderr).toMatch(
      /^broadside: cannot listen on 127\.0\.0\.1:\d+: another program listens there; choose another port/,
    );
    expect(result.exitCode).toBe(5);
  });

  it('ends with 0 when it is stopped, and all its processes with it, even when it is killed', async () => {
    const stopped = await startTarget(['--processes', '2']);
    expect(await stopped.process.stop()).toEqual({ exitCode: 0, signal: null });
    const killed = await startTarget(['--processes', '2']);
    const connection = await openConnection(new URL(killed.url).port);
    await killed.process.kill();
    await connection.closed;
    // Its address is free again, so a new one can have it.
    const next = await startTarget(['--port', new URL(killed.url).port]);
    assertExitCode(
      { ...(await next.process.stop()), stdout: '', stderr: next.process.stderr(), durationMs: 0 },
      0,
    );
  });
});

/** An open connection, and the promise that the other side has closed it. */
async function openConnection(portText: string): Promise<{ readonly closed: Promise<void> }> {
  const socket = connect(Number(portText), '127.0.0.1').resume();
  await new Promise<void>((resolve, reject) => socket.once('connect', () => resolve()).once('error', reject));
  // A reset is as good an end as any.
  socket.on('error', () => undefined);
  return { closed: new Promise<void>((resolve) => socket.once('close', () => resolve())) };
}

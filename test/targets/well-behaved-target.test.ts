import { describe, expect, it } from 'vitest';
import { RawClient } from './raw-client.js';
import { WellBehavedTarget } from './well-behaved-target.js';
import { withTarget } from './with-target.js';

describe('WellBehavedTarget', () => {
  it('keeps an HTTP/1.1 connection open until the client says close', async () => {
    await withTarget(new WellBehavedTarget({ bodySizeBytes: 30 }), async (client, target) => {
      for (let round = 0; round < 3; round++) {
        client.request();
        const head = await client.takeThrough('\r\n\r\n');
        expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
        expect(head).toContain('Content-Length: 30\r\n');
        expect(head).not.toContain('Connection');
        expect(await client.take(30)).toBe('broadside broadside broadside ');
      }
      client.request({ connection: 'close' });
      expect(await client.takeThrough('\r\n\r\n')).toContain('Connection: close\r\n');
      await client.take(30);
      expect(await client.ending).toBe('fin');
      expect(target.counters).toMatchObject({ requestsSeen: 4, repliesSent: 4, requestsPerConnection: [4] });
    });
  });

  it('closes an HTTP/1.0 connection unless the client asks to keep it', async () => {
    await withTarget(new WellBehavedTarget({ bodySizeBytes: 1 }), async (client) => {
      client.request({ version: '1.0', connection: 'Keep-Alive' });
      expect(await client.takeThrough('\r\n\r\n')).toMatch(
        /^HTTP\/1\.0 200 OK\r\n[\s\S]*Connection: keep-alive\r\n/,
      );
      await client.take(1);
      client.request({ version: '1.0' });
      expect(await client.takeThrough('\r\n\r\n')).toContain('Connection: close\r\n');
      expect(await client.ending).toBe('fin');
    });
  });

  it('sends no body to HEAD', async () => {
    await withTarget(new WellBehavedTarget(), async (client) => {
      client.request({ method: 'HEAD', connection: 'close' });
      expect(await client.takeThrough('\r\n\r\n')).toContain('Content-Length: 100\r\n');
      expect(await client.ending).toBe('fin');
      expect(client.received).toBe('');
    });
  });

  it('sends chunks to HTTP/1.1 and a close-delimited body to HTTP/1.0', async () => {
    await withTarget(new WellBehavedTarget({ framing: 'chunked', bodySizeBytes: 6 }), async (client) => {
      client.request();
      expect(await client.takeThrough('\r\n\r\n')).toContain('Transfer-Encoding: chunked\r\n');
      expect(await client.takeThrough('0\r\n\r\n')).toBe('3\r\nbro\r\n3\r\nads\r\n0\r\n\r\n');
      client.request({ version: '1.0', connection: 'keep-alive' });
      expect(await client.takeThrough('\r\n\r\n')).not.toContain('Content-Length');
      expect(await client.ending).toBe('fin');
      expect(client.received).toBe('broads');
    });
  });

  it('answers pipelined requests in order, one after the other, with a delay and mixed statuses', async () => {
    const target = new WellBehavedTarget({
      bodySizeBytes: 0,
      delayMs: 10,
      statusOf: (number) => (number === 2 ? '500 Internal Server Error' : '200 OK'),
    });
    await withTarget(target, async (client) => {
      const start = performance.now();
      client.request();
      client.request();
      client.request();
      const statuses: string[] = [];
      for (let round = 0; round < 3; round++)
        statuses.push((await client.takeThrough('\r\n\r\n')).slice(9, 12));
      expect(statuses).toEqual(['200', '500', '200']);
      // Timers may fire up to a millisecond early.
      expect(performance.now() - start).toBeGreaterThan(27);
    });
  });

  it('reads a request in any split, and its body', async () => {
    await withTarget(new WellBehavedTarget({ bodySizeBytes: 0 }), async (client, target) => {
      client.socket.setNoDelay(true);
      for (const letter of 'POST /a%20b HTTP/1.1\r\nX: y\r\nContent-Length: 6\r\n\r\npowder')
        client.send(letter);
      await client.takeThrough('\r\n\r\n');
      expect(target.lastRequest).toMatchObject({ method: 'POST', target: '/a%20b', version: '1.1' });
      expect(target.lastRequest?.body.toString()).toBe('powder');
      expect(target.counters.bytesReceived).toBe(55);
    });
  });

  it('counts connections: accepted, open now, open at most', async () => {
    await withTarget(new WellBehavedTarget({ bodySizeBytes: 0 }), async (client, target) => {
      const others = [await RawClient.open(target.port), await RawClient.open(target.port)];
      for (const other of others) {
        other.request({ connection: 'close' });
        await other.ending;
        const gone = new Promise((resolve) => other.socket.once('close', resolve));
        other.close();
        await gone;
      }
      client.request();
      await client.takeThrough('\r\n\r\n');
      expect(target.counters).toMatchObject({
        connectionsAccepted: 3,
        connectionsOpenMax: 3,
        requestsPerConnection: [1, 1, 1],
      });
      expect(target.counters.connectionsOpen).toBeLessThanOrEqual(3);
      client.request({ connection: 'close' });
      await client.ending;
    });
  });

  it('fails its test at stop when it was sent something that is no request', async () => {
    const target = new WellBehavedTarget();
    const { port } = await target.start();
    const client = await RawClient.open(port);
    client.send('NONSENSE\r\n\r\n');
    await client.ending;
    client.close();
    await expect(target.stop()).rejects.toThrow('not a request line');
  });
});

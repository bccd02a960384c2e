import { describe, expect, it } from 'vitest';
import { EndlessTarget } from './endless-target.js';
import { GarbageTarget, garbageKinds } from './garbage-target.js';
import { OddFramingTarget, oddFramings } from './odd-framing-target.js';
import { SilentTarget } from './silent-target.js';
import { withTarget } from './with-target.js';
import { WrongLengthTarget } from './wrong-length-target.js';

describe('WrongLengthTarget', () => {
  it('truncates a body and closes', async () => {
    await withTarget(new WrongLengthTarget('truncated-body'), async (client) => {
      client.request();
      expect(await client.takeThrough('\r\n\r\n')).toContain('Content-Length: 100');
      expect(await client.ending).toBe('fin');
      expect(client.received).toHaveLength(60);
    });
  });

  it.each([
    ['truncated-chunk', /\r\n\r\n64\r\n[a-z ]{60}$/],
    ['missing-last-chunk', /\r\n\r\n64\r\n[a-z ]{100}\r\n$/],
    ['truncated-header', /X-Cut$/],
  ] as const)('%s: ends with FIN where it says', async (kind, end) => {
    await withTarget(new WrongLengthTarget(kind), async (client, target) => {
      client.request();
      expect(await client.ending).toBe('fin');
      expect(client.received).toMatch(end);
      expect(target.counters.repliesSent).toBe(0);
    });
  });

  it.each([
    ['announces-more', '150'],
    ['announces-less', '50'],
  ] as const)('%s: sends 100 bytes and stays open', async (kind, announced) => {
    await withTarget(new WrongLengthTarget(kind), async (client) => {
      client.request();
      expect(await client.takeThrough('\r\n\r\n')).toContain(`Content-Length: ${announced}\r\n`);
      await client.take(100);
      client.request();
      expect(await client.takeThrough('\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
    });
  });

  it('varies the length and is honest about it', async () => {
    await withTarget(new WrongLengthTarget('varying'), async (client) => {
      const lengths: string[] = [];
      for (let round = 0; round < 4; round++) {
        client.request();
        const length = /Content-Length: (\d+)/.exec(await client.takeThrough('\r\n\r\n'))?.[1] ?? '';
        await client.take(Number(length));
        lengths.push(length);
      }
      expect(lengths).toEqual(['100', '99', '100', '99']);
    });
  });
});

describe('SilentTarget', () => {
  it('never-answers: reads the request and leaves it at that', async () => {
    await withTarget(new SilentTarget('never-answers'), async (client, target) => {
      client.request();
      await until(() => target.counters.requestsSeen === 1);
      expect(client.received).toBe('');
    });
  });

  it('never-reads: takes the connection and no byte', async () => {
    await withTarget(new SilentTarget('never-reads'), async (client, target) => {
      await until(() => target.counters.connectionsAccepted === 1);
      // Far more than the buffers of both kernels, so that a write must get stuck.
      client.send('x'.repeat(32 * 1024 * 1024));
      await until(() => client.socket.bytesWritten > 0);
      expect(client.socket.writableLength).toBeGreaterThan(0);
      expect(target.counters.bytesReceived).toBe(0);
    });
  });

  it.each([
    ['stops-after-header', /^HTTP\/1\.1 200 OK\r\nContent-Length: 100\r\n\r\n$/],
    ['stops-in-status-line', /^HTTP\/1\.1 2$/],
  ] as const)('%s: falls silent and keeps the connection', async (kind, all) => {
    await withTarget(new SilentTarget(kind), async (client, target) => {
      client.request();
      await until(() => all.test(client.received));
      expect(target.counters).toMatchObject({ connectionsOpen: 1, repliesSent: 0 });
    });
  });

  it('drips a whole reply byte by byte', async () => {
    await withTarget(new SilentTarget('drips', { dripMs: 1 }), async (client, target) => {
      let pieceCount = 0;
      client.socket.on('data', () => (pieceCount += 1));
      client.request();
      await client.takeThrough('\r\n\r\n');
      await client.take(100);
      expect(pieceCount).toBeGreaterThan(50);
      await until(() => target.counters.repliesSent === 1);
    });
  });
});

describe('GarbageTarget', () => {
  it.each(garbageKinds)('%s: sends its bytes at once and keeps the connection', async (kind) => {
    await withTarget(new GarbageTarget(kind), async (client, target) => {
      client.request();
      await until(() => target.counters.repliesSent === 1 && client.received.length > 0);
      expect(client.socket.readableEnded).toBe(false);
    });
  });
});

describe('EndlessTarget', () => {
  it('sends a header of a megabyte before a proper body', async () => {
    await withTarget(new EndlessTarget('megabyte-header'), async (client) => {
      client.request();
      const head = await client.takeThrough('\r\n\r\n');
      expect(head.length).toBeGreaterThan(1_000_000);
      expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nX-Ballast/);
      expect(head).toContain('Content-Length: 100\r\n');
      expect(await client.take(100)).toMatch(/^broadside/);
    });
  });

  it.each(['header', 'header-line', 'body', 'chunks', 'interim-replies'] as const)(
    '%s: goes on beyond four megabytes and stops with the client',
    async (kind) => {
      await withTarget(new EndlessTarget(kind), async (client, target) => {
        client.request();
        const start = await client.take(4_000_000);
        const hasBodyStart = kind === 'body' || kind === 'chunks' || kind === 'interim-replies';
        expect(start.includes('\r\n\r\n')).toBe(hasBodyStart);
        client.close();
        await until(() => target.counters.connectionsOpen === 0);
      });
    },
  );
});

describe('OddFramingTarget', () => {
  it.each(oddFramings)('%s: gives every request the same reply on one connection', async (kind) => {
    await withTarget(new OddFramingTarget(kind), async (client, target) => {
      client.request();
      await until(() => target.counters.repliesSent === 1 && client.received.length > 0);
      const first = client.received;
      client.request();
      await until(() => client.received.length === 2 * first.length);
      expect(client.received).toBe(first + first);
    });
  });
});

/** Looks again at each turn of the event loop; the test's own time limit is the bound. */
async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
}

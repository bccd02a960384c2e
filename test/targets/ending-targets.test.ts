import { describe, expect, it } from 'vitest';
import { ClosingTarget } from './closing-target.js';
import { RawClient } from './raw-client.js';
import { RefusingTarget } from './refusing-target.js';
import { ResettingTarget } from './resetting-target.js';
import { withTarget } from './with-target.js';

async function exchange(client: RawClient): Promise<string> {
  client.request();
  const head = await client.takeThrough('\r\n\r\n');
  await client.take(100);
  return head;
}

describe('ClosingTarget', () => {
  it.each(['after-reply', 'close-after-reply'] as const)(
    '%s: ends unannounced behind the last reply',
    async (manner) => {
      await withTarget(new ClosingTarget({ everyReplies: 3, manner }), async (client, target) => {
        for (let round = 0; round < 3; round++) expect(await exchange(client)).not.toContain('Connection');
        expect(await client.ending).toBe('fin');
        expect(target.counters.repliesSent).toBe(3);
      });
    },
  );

  it('after-reply: still reads what comes late and never resets', async () => {
    await withTarget(
      new ClosingTarget({ everyReplies: 1, manner: 'after-reply' }),
      async (client, target) => {
        client.request();
        client.request();
        expect(await client.ending).toBe('fin');
        expect(target.counters).toMatchObject({ requestsSeen: 2, repliesSent: 1, socketErrors: 0 });
      },
    );
  });

  it('close-after-reply: answers a late request with a reset', async () => {
    const target = new ClosingTarget({ everyReplies: 1, manner: 'close-after-reply' });
    await withTarget(target, async (client) => {
      await exchange(client);
      expect(await client.ending).toBe('fin');
      let error: NodeJS.ErrnoException | undefined;
      client.socket.once('error', (found) => (error = found));
      // The first request draws the reset, and a later write is told of it.
      while (error === undefined) {
        client.request();
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(error.code).toMatch(/^(ECONNRESET|EPIPE)$/);
      expect(target.counters.requestsSeen).toBe(1);
    });
  });

  it('on-next-request: keeps the connection until one more request arrives', async () => {
    await withTarget(
      new ClosingTarget({ everyReplies: 2, manner: 'on-next-request' }),
      async (client, target) => {
        await exchange(client);
        await exchange(client);
        expect(client.socket.readableEnded).toBe(false);
        client.request();
        expect(await client.ending).toBe('fin');
        expect(client.received).toBe('');
        expect(target.counters).toMatchObject({ requestsSeen: 3, repliesSent: 2 });
      },
    );
  });

  it('announced: the last reply says close', async () => {
    await withTarget(new ClosingTarget({ everyReplies: 2, manner: 'announced' }), async (client) => {
      expect(await exchange(client)).not.toContain('Connection: close');
      expect(await exchange(client)).toContain('Connection: close');
      expect(await client.ending).toBe('fin');
    });
  });
});

describe('ResettingTarget', () => {
  it('resets at accept', async () => {
    const target = new ResettingTarget({ when: 'at-accept', every: 2 });
    await withTarget(target, async (client) => {
      await exchange(client);
      // The reset may come before or after this side has noticed that it is connected.
      const second = RawClient.open(target.port).then((opened) => opened.ending);
      expect(await second.catch((error: NodeJS.ErrnoException) => error.code)).toMatch(
        /^(reset|ECONNRESET)$/,
      );
      expect(target.counters).toMatchObject({ connectionsAccepted: 2, requestsSeen: 1 });
    });
  });

  it('resets instead of an answer', async () => {
    await withTarget(new ResettingTarget({ when: 'before-first-byte', every: 2 }), async (client) => {
      await exchange(client);
      client.request();
      expect(await client.ending).toBe('reset');
      expect(client.received).toBe('');
    });
  });

  it('resets in the middle of the body', async () => {
    await withTarget(new ResettingTarget({ when: 'after-first-byte' }), async (client, target) => {
      client.request();
      expect(await client.ending).toBe('reset');
      expect(client.received).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nbroadside $/);
      expect(target.counters.repliesSent).toBe(0);
    });
  });
});

describe('RefusingTarget', () => {
  it('refuses every connection', async () => {
    const target = new RefusingTarget();
    const { port } = await target.start();
    await expect(RawClient.open(port)).rejects.toThrow('ECONNREFUSED');
    await target.stop();
  });
});

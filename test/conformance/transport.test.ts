// One suite for every transport: what the interface in libs/engine/src/transport/transport.ts promises. Long because
// each promise is one test of the same suite.

import { createHash } from 'node:crypto';
import { constants } from 'node:os';
import { chooseTransport, TRANSPORT_WISHES } from '@broadside/engine';
import { afterEach, describe, expect, it } from 'vitest';
import { CLOSE_CAUSE } from '../../libs/engine/dist/transport/transport.js';
import { echo, endOf, Peer, receive } from './peer.js';
import { TransportWire, type WireSettings } from './transport-wire.js';

const names = TRANSPORT_WISHES.filter((wish) => wish !== 'auto');
const choices = await Promise.all(names.map(async (name) => ({ name, choice: await chooseTransport(name) })));
const available = choices.filter(({ name, choice }) => choice.name === name).map(({ name }) => name);

const { ECONNREFUSED, ECONNRESET } = constants.errno;
const wires: TransportWire[] = [];
const peers: Peer[] = [];

afterEach(async () => {
  await Promise.all(wires.splice(0).map((wire) => wire.dispose()));
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
});

async function listen(...args: Parameters<typeof Peer.listen>): Promise<Peer> {
  const peer = await Peer.listen(...args);
  peers.push(peer);
  return peer;
}

/** Not the same anywhere, so that bytes that are lost, doubled or swapped show. */
function pattern(sizeBytes: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(sizeBytes / 4));
  for (let i = 0; i < words.length; i++) words[i] = Math.imul(i + seed, 2_654_435_761);
  return Buffer.from(words.buffer, 0, sizeBytes);
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

describe('choice', () => {
  it('always has the socket transport, and says why a transport that was asked for is not taken', () => {
    expect(available).toContain('socket');
    for (const { name, choice } of choices) {
      if (choice.name !== name) expect(choice.note).toMatch(/^\S[^\n]+$/);
    }
  });

  it.runIf(process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch))(
    'has the epoll transport on Linux',
    () => {
      expect(available).toContain('epoll');
    },
  );
});

describe.each(available)('transport %s', (transport) => {
  function wireTo(port: number, overrides: Partial<WireSettings> = {}): TransportWire {
    const address = { address: '127.0.0.1', family: 4 } as const;
    const wire = new TransportWire({ transport, address, port, connections: 4, ...overrides });
    wires.push(wire);
    return wire;
  }

  it('opens connections and carries bytes both ways on each', async () => {
    const peer = await listen(echo);
    const wire = wireTo(peer.port);
    await wire.open(0, 1, 2, 3);
    for (const connection of [0, 1, 2, 3]) {
      wire.command({ do: 'send', connection, bytes: Buffer.from(`hello ${connection}`) });
    }
    for (const connection of [0, 1, 2, 3]) {
      expect(String(await wire.read(connection, 7))).toBe(`hello ${connection}`);
    }
    await wire.end();
  });

  it('works over IPv6', async () => {
    const peer = await listen(echo, '::1');
    const wire = wireTo(peer.port, { address: { address: '::1', family: 6 } });
    await wire.open(0);
    wire.command({ do: 'send', connection: 0, bytes: Buffer.from('six') });
    expect(String(await wire.read(0, 3))).toBe('six');
    await wire.end();
  });

  it("tells of a refused connection with the system's error number", async () => {
    const peer = await Peer.listen();
    const { port } = peer;
    await peer.close();
    const wire = wireTo(port);
    wire.command({ do: 'open', connection: 0 });
    const { cause, errno } = await wire.next('close', 0);
    expect([cause, errno]).toEqual([CLOSE_CAUSE.refused, ECONNREFUSED]);
    await wire.end();
  });

  it('sends what it was given while it was still connecting', async () => {
    const peer = await listen(echo);
    const wire = wireTo(peer.port);
    wire.command({ do: 'open', connection: 1 }, { do: 'send', connection: 1, bytes: Buffer.from('early') });
    expect(String(await wire.read(1, 5))).toBe('early');
    await wire.end();
  });

  it('tells of a reset before the first byte', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    (await peer.accepted()).resetAndDestroy();
    const { cause, errno } = await wire.next('close', 0);
    expect([cause, errno]).toEqual([CLOSE_CAUSE.reset, ECONNRESET]);
    await wire.end();
  });

  it('delivers what came before a reset', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const socket = await peer.accepted();
    socket.write('part');
    expect(String(await wire.read(0, 4))).toBe('part');
    socket.resetAndDestroy();
    expect((await wire.next('close', 0)).cause).toBe(CLOSE_CAUSE.reset);
    await wire.end();
  });

  it('tells a reset right behind bytes from an end, also when both are there at the first look', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const socket = await peer.accepted();
    wire.command({ do: 'block', forMs: 100 });
    await wire.next('blocking');
    socket.write('part', () => socket.resetAndDestroy());
    expect(String(await wire.read(0, 4))).toBe('part');
    expect(await wire.next('close', 0)).toMatchObject({ cause: CLOSE_CAUSE.reset, errno: ECONNRESET });
    await wire.end();
  });

  it('delivers bytes that were there before anything was sent, and says so where it knows', async () => {
    const peer = await listen((socket) => socket.write('unasked'));
    const wire = wireTo(peer.port);
    wire.command({ do: 'open', connection: 0 }, { do: 'block', forMs: 100 });
    const { hasInput } = await wire.next('open', 0);
    expect(hasInput).toBe(transport === 'epoll');
    expect(String(await wire.read(0, 7))).toBe('unasked');
    await wire.open(1);
    await wire.end();
  });

  it('does not take the end of a fresh connection for bytes', async () => {
    const peer = await listen((socket) => socket.end());
    const wire = wireTo(peer.port);
    wire.command({ do: 'open', connection: 0 }, { do: 'block', forMs: 100 });
    expect(await wire.next('open', 0)).toMatchObject({ hasInput: false });
    expect(await wire.next('close', 0)).toMatchObject({ cause: CLOSE_CAUSE.ended });
    await wire.end();
  });

  it('delivers everything before the end of the input, then tells of it once', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const bytes = pattern(300_000, 1);
    (await peer.accepted()).end(bytes);
    expect(digest(await wire.read(0, bytes.length))).toBe(digest(bytes));
    expect(await wire.next('close', 0)).toMatchObject({ cause: CLOSE_CAUSE.ended, errno: 0 });
    await wire.end();
    expect(wire.events.filter((event) => event.event === 'close')).toHaveLength(1);
  });

  it('takes a half-closed connection for an ended one and closes its own side', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    wire.command({ do: 'send', connection: 0, bytes: Buffer.from('request') });
    const socket = await peer.accepted();
    expect(String(await receive(socket, 7))).toBe('request');
    const ended = endOf(socket);
    socket.end();
    expect((await wire.next('close', 0)).cause).toBe(CLOSE_CAUSE.ended);
    expect(await ended).toBe('end');
    await wire.end();
  });

  it('brings a large reply in pieces, in order, without starving another connection', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const large = await peer.accepted();
    await wire.open(1);
    const small = await peer.accepted();
    const bytes = pattern(16_000_000, 2);
    large.write(bytes);
    small.write('!');
    expect(digest(await wire.read(0, bytes.length))).toBe(digest(bytes));
    expect(String(await wire.read(1, 1))).toBe('!');
    await wire.end();
  });

  it('brings large replies on many connections that arrive while the thread is busy', async () => {
    const peer = await listen();
    const connections = Array.from({ length: 32 }, (_, connection) => connection);
    const wire = wireTo(peer.port, { connections: connections.length });
    const replies = connections.map((connection) => pattern(1_000_000, connection));
    for (const connection of connections) await wire.open(connection);
    wire.command({ do: 'block', forMs: 100 });
    await wire.next('blocking');
    for (const reply of replies) (await peer.accepted()).write(reply);
    const read = connections.map((connection) => wire.read(connection, 1_000_000));
    expect((await Promise.all(read)).map(digest)).toEqual(replies.map(digest));
    await wire.end();
  });

  it('keeps what a slow reader does not take, in order, and serves others meanwhile', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const slow = await peer.accepted();
    await wire.open(1);
    echo(await peer.accepted());
    const first = pattern(8_000_000, 3);
    const second = pattern(1_000_000, 4);
    wire.command(
      { do: 'send', connection: 0, bytes: first },
      { do: 'send', connection: 0, bytes: second },
      { do: 'send', connection: 1, bytes: Buffer.from('meanwhile') },
    );
    expect(String(await wire.read(1, 9))).toBe('meanwhile');
    expect(slow.bytesRead).toBeLessThan(first.length);
    const all = Buffer.concat([first, second]);
    expect(digest(await receive(slow, all.length))).toBe(digest(all));
    await wire.end();
  });

  it('keeps the order of very many small sends that nobody reads for a while', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const late = await peer.accepted();
    const all = pattern(12_000_000, 6);
    const pieceBytes = 1_000;
    for (let start = 0; start < all.length; start += 100 * pieceBytes) {
      const pieces = Array.from({ length: 100 }, (_, i) => start + i * pieceBytes);
      wire.command(
        ...pieces.map((at) => {
          return {
            do: 'send',
            connection: 0,
            bytes: new Uint8Array(all.subarray(at, at + pieceBytes)),
          } as const;
        }),
      );
    }
    wire.command({ do: 'turn', inUs: 0 });
    await wire.next('turn');
    expect(digest(await receive(late, all.length))).toBe(digest(all));
    await wire.end();
  });

  it('tells once of a connection that is reset in the middle of a large request', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const socket = await peer.accepted();
    wire.command({ do: 'send', connection: 0, bytes: pattern(32_000_000, 5) });
    await receive(socket, 100_000);
    socket.resetAndDestroy();
    const { cause } = await wire.next('close', 0);
    expect([CLOSE_CAUSE.reset, CLOSE_CAUSE.write]).toContain(cause);
    await wire.open(0);
    await wire.end();
    expect(wire.events.filter((event) => event.event === 'close')).toHaveLength(1);
  });

  it('lets no event of a closed connection reach the one that takes its index in the same turn', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    for (let round = 0; round < 10; round++) {
      await wire.open(0);
      const zero = await peer.accepted();
      await wire.open(1);
      const one = await peer.accepted();
      // Whichever is delivered first closes the other and opens it anew; the other's bytes are nobody's then.
      wire.command(
        {
          do: 'react',
          to: 'data',
          connection: 0,
          by: [
            { do: 'close', connection: 1, abort: false },
            { do: 'open', connection: 1 },
          ],
        },
        {
          do: 'react',
          to: 'data',
          connection: 1,
          by: [
            { do: 'close', connection: 0, abort: false },
            { do: 'open', connection: 0 },
          ],
        },
        { do: 'block', forMs: 30 },
      );
      await wire.next('blocking');
      zero.write('0');
      one.write('1');
      const { connection } = await wire.next('data');
      const other = connection === 0 ? 1 : 0;
      await wire.next('open', other);
      const fresh = await peer.accepted();
      // The new connection of the index works, and its own bytes are the first that come.
      wire.command({ do: 'forget' }, { do: 'turn', inUs: 0 });
      await wire.next('turn');
      fresh.write('fresh');
      expect(String(await wire.read(other, 5))).toBe('fresh');
      wire.command(
        { do: 'close', connection: 0, abort: false },
        { do: 'close', connection: 1, abort: false },
      );
    }
    await wire.end();
  });

  it('closes in order or with a reset, as told, and is silent about it', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    for (const [abort, seen] of [
      [false, 'end'],
      [true, 'reset'],
    ] as const) {
      await wire.open(2);
      const ended = endOf(await peer.accepted());
      wire.command({ do: 'close', connection: 2, abort });
      expect(await ended).toBe(seen);
    }
    await wire.end();
    expect(wire.events.filter((event) => event.event === 'close')).toEqual([]);
  });

  it('closes and opens an index from inside its own events', async () => {
    const peer = await listen((socket) => void socket.write('welcome'));
    const wire = wireTo(peer.port);
    for (let round = 0; round < 20; round++) {
      wire.command(
        {
          do: 'react',
          to: 'data',
          connection: 0,
          by: [{ do: 'close', connection: 0, abort: round % 2 === 0 }],
        },
        { do: 'open', connection: 0 },
      );
      await wire.next('data', 0);
    }
    await wire.end();
    expect(peer.sockets).toHaveLength(20);
  });

  it('closes what is open when it ends', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const ended = endOf(await peer.accepted());
    await wire.end();
    expect(await ended).toBe('end');
  });

  it('keeps a thousand connections apart', async () => {
    const peer = await listen(echo);
    const connections = 1_000;
    const wire = wireTo(peer.port, { connections });
    const all = Array.from({ length: connections }, (_, connection) => connection);
    await wire.open(...all);
    for (let round = 0; round < 3; round++) {
      const sent = all.map((connection) => Buffer.from(`${round}:${connection};`));
      wire.command(...sent.map((bytes, connection) => ({ do: 'send', connection, bytes }) as const));
      const got = await Promise.all(sent.map((bytes, connection) => wire.read(connection, bytes.length)));
      expect(got.map(String)).toEqual(sent.map(String));
    }
    await wire.end();
  });

  it('sees an order within milliseconds while nothing happens on the wire', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const tookMs: number[] = [];
    for (let i = 0; i < 31; i++) {
      const before = performance.now();
      wire.command({ do: 'turn', inUs: 0 });
      await wire.next('turn');
      tookMs.push(performance.now() - before);
    }
    expect(median(tookMs)).toBeLessThan(8);
    await wire.end();
  });

  it('keeps the time of a turn that was asked for, and is idle until then', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    const lateUs: number[] = [];
    for (let i = 0; i < 31; i++) {
      wire.command({ do: 'turn', inUs: 700 + i * 300 });
      lateUs.push((await wire.next('turn')).lateUs);
    }
    expect(Math.min(...lateUs)).toBeGreaterThanOrEqual(0);
    expect(median(lateUs)).toBeLessThan(2_500);
    expect((await wire.end()).idleUs).toBeGreaterThan(10_000);
  });

  it('comes back at once when it is woken inside a turn', async () => {
    const peer = await listen();
    const wire = wireTo(peer.port);
    await wire.open(0);
    wire.command({ do: 'turn', inUs: 5_000_000 });
    const before = performance.now();
    // The turn after this one looks at the clock again, and no later wake-up comes from here.
    wire.command({ do: 'turn', inUs: 0 }, { do: 'wake' });
    await wire.next('turn');
    expect(performance.now() - before).toBeLessThan(1_000);
    await wire.end();
  });
});

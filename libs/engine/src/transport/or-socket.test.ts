import { expect, it } from 'vitest';
import { monotonicClock } from '../clock.js';
import type { OpenTransportOptions } from './open-transport.js';
import { orSocket } from './or-socket.js';
import { SocketTransport } from './socket-transport.js';

const plain: OpenTransportOptions = {
  address: { address: '127.0.0.1', family: 4 },
  port: 1,
  connections: 1,
  clock: monotonicClock,
};

it('opens the faster transport for what it can do', () => {
  const fast = new SocketTransport(plain, 'the fast one');
  expect(orSocket('epoll', new Set(), () => fast)(plain)).toBe(fast);
  const open = orSocket('epoll', new Set(['unix']), () => fast);
  expect(open({ ...plain, unixPath: '/a' })).toBe(fast);
});

it('opens the socket transport for the rest, and says why in one line', () => {
  const open = orSocket('epoll', new Set(['unix']), () => {
    throw new Error('must not be opened');
  });
  const opened = open({ ...plain, unixPath: '/a', socketBufferBytes: 1, localAddresses: [plain.address] });
  expect(opened.name).toBe('socket');
  expect(opened.facts?.note).toBe(
    'epoll is not used: it has no support for local addresses and socket buffer sizes',
  );
});

import { type AddressInfo, createConnection, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { SO_RCVBUF, SO_SNDBUF, SOL_SOCKET } from '../libc/constants.js';
import { loadLibc } from '../libc/libc.js';
import { SocketBuffers } from './socket-buffers.js';

const loaded = await loadLibc();

it.runIf(loaded.ok)('sets both buffers of an open socket to twice the size, as Linux does', async () => {
  if (!loaded.ok) return;
  const { libc } = loaded;
  const server = createServer((accepted) => accepted.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server has no other kind of address.
  const socket = createConnection({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const buffers = new SocketBuffers(10_000);
  expect(await buffers.prepare()).toBeUndefined();
  buffers.apply(socket);
  const handle: unknown = Reflect.get(socket, '_handle');
  const fd = typeof handle === 'object' && handle !== null && 'fd' in handle ? Number(handle.fd) : -1;
  const words = new Int32Array([0, 4]);
  const sizes = [SO_SNDBUF, SO_RCVBUF].map((option) => {
    const address = libc.addressOf(words);
    words[1] = 4;
    expect(libc.getsockopt(fd, SOL_SOCKET, option, address, address + 4)).toBe(0);
    return words[0];
  });
  expect(sizes).toEqual([20_000, 20_000]);
  socket.destroy();
  await new Promise<void>((resolve) => server.close(() => resolve()));
});

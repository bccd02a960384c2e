import { createServer } from 'node:net';

const ATTEMPTS = 5;

/**
 * A TCP port of 127.0.0.1 that was free a moment ago, for programs that cannot listen on port 0.
 * Another process can take it first, so start such a program through `withFreePort`.
 */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return address.port;
}

/** Calls `start` with a free port, again with another one while its error says the address was taken. */
export async function withFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      const isTaken = error instanceof Error && /address already in use|EADDRINUSE/i.test(error.message);
      if (!isTaken || attempt === ATTEMPTS) throw error;
    }
  }
}

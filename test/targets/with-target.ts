import { RawClient } from './raw-client.js';
import type { Target } from './target-server.js';

/** Starts the target, opens one connection to it, and ends both whatever happens. */
export async function withTarget<T extends Target>(
  target: T,
  use: (client: RawClient, target: T) => Promise<void>,
): Promise<void> {
  const { port } = await target.start();
  const client = await RawClient.open(port);
  try {
    await use(client, target);
  } finally {
    client.close();
    await target.stop();
  }
}

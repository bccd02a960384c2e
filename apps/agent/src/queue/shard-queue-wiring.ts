/**
 * What an agent needs of a queue. Structural: the coordinator's embedded queue hands over an object of this
 * shape, and an agent in its own process builds one from a Redis address (redis-wiring.ts).
 */
export interface ShardQueueWiring {
  createConsumer<D, R>(
    name: string,
    processor: (carrier: { readonly data: D }) => Promise<R>,
    options: { readonly concurrency: number },
  ): ShardQueueConsumer;
}

export interface ShardQueueConsumer {
  /** Takes nothing more; with true it does not wait for what is being carried out. */
  pause(doNotWaitActive?: boolean): Promise<void>;
  /** Ends after what is being carried out; with true at once. */
  close(force?: boolean): Promise<void>;
  waitUntilReady(): Promise<unknown>;
}

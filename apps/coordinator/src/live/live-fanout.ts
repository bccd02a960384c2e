/** Who watches which run, and what a slow watcher misses. Pure: sockets are passed in. */
import { isFinalState, LIMITS, type LiveMessage } from '@broadside/shared';

export interface Watcher {
  /** Bytes that were sent and not yet taken. */
  readonly bufferedBytes: number;
  send(text: string): void;
  /** Nothing more will come. */
  end(): void;
}

export class LiveFanout {
  readonly #watchers = new Map<string, Set<Watcher>>();
  #count = 0;
  #droppedCount = 0;

  get isFull(): boolean {
    return this.#count >= LIMITS.maxWatchers;
  }

  /** Seconds that slow watchers did not get. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(runId: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(watcher));
    this.#count++;
  }

  remove(runId: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(runId);
    if (watchers?.delete(watcher) !== true) return;
    this.#count--;
    if (watchers.size === 0) this.#watchers.delete(runId);
  }

  /** Seconds are left out for a watcher whose buffer is full; states are few, and always sent. */
  publish(message: LiveMessage): void {
    const watchers = this.#watchers.get(message.runId);
    if (watchers === undefined) return;
    const text = JSON.stringify(message);
    for (const watcher of watchers) {
      const isSlow = watcher.bufferedBytes > LIMITS.maxWatcherBufferBytes;
      if (isSlow && message.kind === 'second') {
        this.#droppedCount++;
        continue;
      }
      watcher.send(text);
      if (message.kind === 'state' && isFinalState(message.state)) watcher.end();
    }
  }
}

import { LIMITS, type LiveMessage } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { LiveFanout, type Watcher } from './live-fanout.js';

class RecordingWatcher implements Watcher {
  bufferedBytes = 0;
  readonly texts: string[] = [];
  hasEnded = false;
  send(text: string): void {
    this.texts.push(text);
  }
  end(): void {
    this.hasEnded = true;
  }
}

const second: LiveMessage = {
  kind: 'second',
  runId: 'r',
  second: {
    second: 0,
    planned: 1,
    sent: 1,
    completed: 1,
    failed: 0,
    inFlight: 0,
    openConnections: 1,
    bytesReceived: 1,
    busyShareMax: 0,
  },
  total: { planned: 1, completed: 1, failed: 0 },
};

describe('the live stream', () => {
  it('reaches the watchers of the run and nobody else', () => {
    const fanout = new LiveFanout();
    const [mine, other] = [new RecordingWatcher(), new RecordingWatcher()];
    fanout.add('r', mine);
    fanout.add('s', other);
    fanout.publish(second);
    expect(mine.texts).toHaveLength(1);
    expect(other.texts).toHaveLength(0);
  });

  it('leaves out seconds for a slow watcher, never states', () => {
    const fanout = new LiveFanout();
    const slow = new RecordingWatcher();
    slow.bufferedBytes = LIMITS.maxWatcherBufferBytes + 1;
    fanout.add('r', slow);
    fanout.publish(second);
    fanout.publish({ kind: 'state', runId: 'r', state: 'finished' });
    expect(slow.texts.map((text) => (JSON.parse(text) as LiveMessage).kind)).toEqual(['state']);
    expect(fanout.droppedCount).toBe(1);
    expect(slow.hasEnded).toBe(true);
  });

  it('is full at its bound and has room again when a watcher leaves', () => {
    const fanout = new LiveFanout();
    const watchers = Array.from({ length: LIMITS.maxWatchers }, () => new RecordingWatcher());
    for (const watcher of watchers) fanout.add('r', watcher);
    expect(fanout.isFull).toBe(true);
    const [first] = watchers;
    if (first !== undefined) fanout.remove('r', first);
    expect(fanout.isFull).toBe(false);
  });
});

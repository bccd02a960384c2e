import { COUNTER } from '@broadside/shared/engine';
import type { LiveHistogram } from '../recorder/live-histogram.js';
import type { Recorder } from '../recorder/recorder.js';

/** For each counter of closed connections: where the replies that they had carried are recorded. */
export function servedHistogramsOf(recorder: Recorder): ReadonlyMap<number, LiveHistogram> {
  return new Map([
    [COUNTER.connectionsClosedByUs, recorder.servedClosedByUs],
    [COUNTER.connectionsClosedAnnounced, recorder.servedClosedAnnounced],
    [COUNTER.connectionsClosedUnannounced, recorder.servedClosedUnannounced],
    [COUNTER.connectionsClosedIdle, recorder.servedClosedIdle],
  ]);
}

import type { Shard } from '@broadside/shared/engine';
import type { Recorder } from '../recorder/recorder.js';
import { ClosedSource } from './closed-source.js';
import { PacedSource } from './paced-source.js';
import type { RequestSource } from './request-source.js';

/** Where the requests of a shard come from: its schedule where it has one, else its connections. */
export function requestSourceOf(shard: Shard, recorder: Recorder): RequestSource {
  const { pacing, requests } = shard;
  return pacing === undefined
    ? new ClosedSource({ requests, hasWarmup: shard.warmupMs !== undefined, recorder })
    : new PacedSource({ shard, pacing, recorder });
}

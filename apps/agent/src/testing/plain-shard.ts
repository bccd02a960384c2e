import { PROTOCOL_VERSION, type Shard } from '@broadside/shared';

/** A shard for tests in which nothing is out of the ordinary. @param given what matters to the test. */
export function plainShard(given: Partial<Shard> = {}): Shard {
  return {
    runId: 'r1',
    shardIndex: 0,
    attempt: 1,
    protocol: PROTOCOL_VERSION,
    shardCount: 1,
    target: { scheme: 'http', host: '127.0.0.1', port: 1, path: '/' },
    request: { method: 'GET', httpVersion: '1.1', headerLines: [] },
    keepAlive: true,
    connections: 10,
    requests: 1_000,
    timeoutMs: 1_000,
    maxReplyHeaderBytes: 1_000,
    maxReplyBodyBytes: 1_000,
    checkLength: false,
    failOnStatus: false,
    onSocketError: 'continue',
    probe: false,
    ...given,
  };
}

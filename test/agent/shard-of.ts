import { PROTOCOL_VERSION, type Shard } from '@broadside/shared';

/** A small keep-alive shard against a loopback port. */
export function shardOf(port: number, changes: Partial<Shard> = {}): Shard {
  return {
    runId: 'run-1',
    shardIndex: 0,
    attempt: 1,
    protocol: PROTOCOL_VERSION,
    shardCount: 1,
    target: { scheme: 'http', host: '127.0.0.1', port, path: '/' },
    request: { method: 'GET', httpVersion: '1.1', headerLines: [`Host: 127.0.0.1:${port}`] },
    keepAlive: true,
    connections: 2,
    requests: 100,
    timeoutMs: 5_000,
    maxReplyHeaderBytes: 65_536,
    maxReplyBodyBytes: 1_048_576,
    checkLength: false,
    failOnStatus: false,
    onSocketError: 'continue',
    probe: true,
    ...changes,
  };
}

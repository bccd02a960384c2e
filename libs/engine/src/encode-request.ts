import { Buffer } from 'node:buffer';
import type { Shard } from '@broadside/shared/engine';

/**
 * The bytes of one request, sent the same each time. Nothing is added to what the shard says: header lines,
 * their order and the target stand as they are (text is sent as UTF-8).
 */
export function encodeRequest(shard: Pick<Shard, 'target' | 'request'>): Buffer {
  const { method, httpVersion, headerLines, body, bodyBase64, requestTarget } = shard.request;
  const lines = [
    `${method} ${requestTarget ?? shard.target.path} HTTP/${httpVersion}`,
    ...headerLines,
    '',
    '',
  ];
  const bodyBytes = bodyBase64 === undefined ? Buffer.from(body ?? '') : Buffer.from(bodyBase64, 'base64');
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bodyBytes]);
}

import type { Shard } from '@broadside/shared/engine';
import { Connection } from '../connection.js';
import { ReplyMemory } from '../transport/reply-memory.js';
import { ResponseParser } from '../transport/response-parser.js';
import type { ServerName } from '../transport/server-name.js';

/** The connections of a shard, whose parsers share what they learn. */
export function connectionsOf(shard: Shard, serverName: ServerName): Connection[] {
  const limits = { maxHeaderBytes: shard.maxReplyHeaderBytes, maxBodyBytes: shard.maxReplyBodyBytes };
  const share = { serverName, memory: new ReplyMemory() };
  const make = (): Connection => new Connection(new ResponseParser(limits, share));
  return Array.from({ length: shard.connections }, make);
}

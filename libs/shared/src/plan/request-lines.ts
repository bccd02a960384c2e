import { BROADSIDE_VERSION } from '../version.js';
import { base64OfUtf8 } from './base64.js';
import type { Plan } from './plan.schema.js';
import { proxyAuthorizationLines } from './shard-connection.js';
import { hostHeaderOf, type Target } from './target.js';

/**
 * The header lines that go on the wire, in order. With `exactHeaders` they are the plan's own, untouched;
 * otherwise Host comes first, then the plan's, then what is missing for a request that servers understand.
 */
export function requestHeaderLines(plan: Plan, target: Target, bodyBytes: number): string[] {
  if (plan.exactHeaders) return [...plan.headers];
  const given = new Set(
    plan.headers.map((line) => line.slice(0, Math.max(line.indexOf(':'), 0)).toLowerCase()),
  );
  const lines: string[] = [];
  if (!given.has('host')) lines.push(`Host: ${hostHeaderOf(target)}`);
  lines.push(...plan.headers);
  if (plan.user !== undefined && !given.has('authorization')) {
    lines.push(`Authorization: Basic ${base64OfUtf8(plan.user)}`);
  }
  // What is meant for the proxy alone must not reach an https target through the tunnel.
  if (target.scheme === 'http') lines.push(...proxyAuthorizationLines(plan));
  if (!given.has('user-agent')) lines.push(`User-Agent: broadside/${BROADSIDE_VERSION}`);
  if (!given.has('accept')) lines.push('Accept: */*');
  if (!given.has('connection')) {
    if (!plan.keepAlive) lines.push('Connection: close');
    else if (plan.httpVersion === '1.0') lines.push('Connection: Keep-Alive');
  }
  const needsLength = bodyBytes > 0 || /^(POST|PUT|PATCH)$/.test(plan.method);
  if (needsLength && !given.has('content-length') && !given.has('transfer-encoding')) {
    lines.push(`Content-Length: ${bodyBytes}`);
  }
  return lines;
}

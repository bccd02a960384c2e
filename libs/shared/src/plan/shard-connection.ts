import { base64OfUtf8 } from './base64.js';
import type { Plan } from './plan.schema.js';
import { parsePlace, parseProxy } from './proxy.js';
import type { ShardConnection } from './shard.schema.js';
import { hostHeaderOf, type Target } from './target.js';

/** How a shard connects, from what the plan says about it. */
export function shardConnectionOf(plan: Plan, target: Target): ShardConnection {
  return {
    ...(plan.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: plan.connectTimeoutMs }),
    ...(plan.unixSocket === undefined ? {} : { unixSocket: plan.unixSocket }),
    ...(plan.bind === undefined ? {} : { bind: plan.bind }),
    ...(plan.addresses === undefined ? {} : { addresses: plan.addresses }),
    ...(plan.socketBufferBytes === undefined ? {} : { socketBufferBytes: plan.socketBufferBytes }),
    ...connectToOf(plan, target),
    ...proxyOf(plan, target),
    ...(target.scheme === 'https' ? { tls: tlsOf(plan, target) } : {}),
  };
}

/** The request target of RFC 9112 3.2: absolute form for a proxy that reads the request, else the path. */
export function requestTargetOf(plan: Plan, target: Target): string {
  if (plan.proxy === undefined || target.scheme === 'https') return target.path;
  const address = plan.target.replace(/#.*$/s, '');
  return address.startsWith('http://') ? address : `http://${address}`;
}

/** The Proxy-Authorization line, for whoever of the two requests the proxy reads. */
export function proxyAuthorizationLines({ proxyUser }: Plan): string[] {
  return proxyUser === undefined ? [] : [`Proxy-Authorization: Basic ${base64OfUtf8(proxyUser)}`];
}

function connectToOf({ connectTo }: Plan, target: Target): Pick<ShardConnection, 'connectTo'> {
  if (connectTo === undefined) return {};
  const place = parsePlace(connectTo, target.port);
  if (typeof place === 'string') throw new TypeError(`plan with a bad connectTo: ${place}`);
  return { connectTo: place };
}

function proxyOf(plan: Plan, target: Target): Pick<ShardConnection, 'proxy'> {
  if (plan.proxy === undefined) return {};
  const proxy = parseProxy(plan.proxy);
  if (typeof proxy === 'string') throw new TypeError(`plan with a bad proxy: ${proxy}`);
  if (target.scheme !== 'https') return { proxy: { ...proxy, connectLines: [] } };
  // CONNECT wants the port even where it is the usual one (RFC 9110 9.3.6).
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  const authority = `${host}:${target.port}`;
  const connectLines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    ...proxyAuthorizationLines(plan),
  ];
  return { proxy: { ...proxy, connectLines } };
}

function tlsOf(plan: Plan, target: Target): NonNullable<ShardConnection['tls']> {
  const { serverName, ...settings } = plan.tls ?? { verify: true, resumeSessions: false };
  const name = serverName ?? target.host;
  // An address must not be sent as a name (RFC 6066 3).
  const isAddress = name.includes(':') || /^[\d.]+$/.test(name);
  return {
    ...settings,
    serverName: isAddress ? '' : name,
    // Without a name of its own in the handshake the certificate must still be the target's.
    verifyName: serverName === undefined || serverName === '' ? target.host : serverName,
  };
}

/** For messages: where the connections go. */
export function peerNameOf(connection: ShardConnection, target: Target, address: string): string {
  if (connection.unixSocket !== undefined) return `unix:${connection.unixSocket}`;
  const { proxy, connectTo } = connection;
  const port = (proxy ?? connectTo ?? target).port;
  const place = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  return proxy === undefined ? place : `${hostHeaderOf(target)} through ${place}`;
}

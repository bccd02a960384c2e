/** Everything about a shard's connections that is decided once, before any load. */
import { Buffer } from 'node:buffer';
import { createServer, isIP } from 'node:net';
import { type Fatal, peerNameOf, type Shard } from '@broadside/shared/engine';
import {
  type Lookup,
  type ResolvedAddress,
  resolveTarget,
  type TargetCheck,
  type TargetHost,
} from './resolve-target.js';
import type { OpenTransportOptions } from './transport/open-transport.js';

export interface PrepareOptions {
  readonly lookup: Lookup;
  /**
   * Asked about each address that is connected to, about a unix socket, and about the target itself where a proxy
   * would connect to it.
   */
  readonly refusalOf: TargetCheck;
}

export type PreparedConnections =
  | {
      readonly ok: true;
      readonly destination: Omit<OpenTransportOptions, 'connections' | 'clock'>;
      /** All addresses of the name that is connected to, and those of them that are used. */
      readonly addresses: readonly string[];
      readonly used: readonly string[];
      /** As messages name the other side. */
      readonly peer: string;
    }
  | { readonly ok: false; readonly fatal: Fatal };

export async function prepareConnections(
  shard: Shard,
  options: PrepareOptions,
): Promise<PreparedConnections> {
  const { target, connection = {}, shardIndex } = shard;
  const { unixSocket, proxy, tls, socketBufferBytes } = connection;
  const place = proxy ?? connection.connectTo ?? target;
  const common = {
    ...(tls === undefined ? {} : { tls }),
    ...(socketBufferBytes === undefined ? {} : { socketBufferBytes }),
  };
  if (target.scheme === 'https' && tls === undefined) {
    return refused('NOT_SUPPORTED', 'the shard has an https target and no TLS settings');
  }
  if (unixSocket !== undefined) return prepareUnix(unixSocket, common, options);
  const locals = await localAddressesOf(connection.bind ?? []);
  if (!locals.ok) return locals;
  const families = new Set<number>(locals.addresses.map(({ family }) => family));
  const resolution = await resolveTarget(place, {
    ...options,
    ...(families.size === 0 ? {} : { families }),
  });
  if (!resolution.ok) return resolution;
  const behind = proxy === undefined ? undefined : await refusalBehindProxy(target, options);
  if (behind !== undefined) {
    return refused('NOT_ALLOWED', `the target policy does not allow load on ${target.host}: ${behind}`);
  }
  const { usable, addresses } = resolution;
  const used = connection.addresses === 'spread' ? rotated(usable, shardIndex) : [usable[0]];
  const [address = usable[0]] = used;
  const connectLines = proxy?.connectLines ?? [];
  return {
    ok: true,
    addresses,
    used: used.map((each) => each.address),
    peer: peerNameOf(connection, target, address.address),
    destination: {
      ...common,
      address,
      port: place.port,
      ...(used.length > 1 ? { addresses: used } : {}),
      ...(locals.addresses.length === 0 ? {} : { localAddresses: rotated(locals.addresses, shardIndex) }),
      ...(connectLines.length === 0
        ? {}
        : { tunnelRequest: Buffer.from([...connectLines, '', ''].join('\r\n')) }),
    },
  };
}

function prepareUnix(
  unixPath: string,
  common: Pick<OpenTransportOptions, 'tls' | 'socketBufferBytes'>,
  { refusalOf }: PrepareOptions,
): PreparedConnections {
  const name = `unix:${unixPath}`;
  const why = refusalOf({ unixSocket: unixPath });
  if (why !== undefined) {
    return refused('NOT_ALLOWED', `the target policy does not allow load on ${name}: ${why}`);
  }
  const shown = unixPath.length > 64 ? `${unixPath.slice(0, 63)}…` : unixPath;
  return {
    ok: true,
    addresses: [shown],
    used: [shown],
    peer: name,
    // The address has no meaning for a unix socket, and the type wants one.
    destination: { ...common, address: { address: '127.0.0.1', family: 4 }, port: 1, unixPath },
  };
}

/**
 * A proxy must not be the way round the policy. It looks the name up itself, and may take any of the addresses: all
 * of them must be allowed. A name that only the proxy can resolve is judged by itself.
 */
async function refusalBehindProxy(
  { host, port }: TargetHost,
  { lookup, refusalOf }: PrepareOptions,
): Promise<string | undefined> {
  let found: readonly Pick<ResolvedAddress, 'address'>[];
  try {
    found = isIP(host) === 0 ? await lookup(host) : [{ address: host }];
  } catch {
    // Not resolvable here is what proxies are often for.
    found = [];
  }
  if (found.length === 0) return refusalOf({ host, port });
  return found
    .map(({ address }) => refusalOf({ host, port, address }))
    .find((refusal) => refusal !== undefined);
}

type LocalAddresses =
  | { readonly ok: true; readonly addresses: readonly ResolvedAddress[] }
  | { readonly ok: false; readonly fatal: Fatal };

/** Tries each address, so that one that this machine has not is told at once and by its name. */
async function localAddressesOf(texts: readonly string[]): Promise<LocalAddresses> {
  const addresses: ResolvedAddress[] = [];
  for (const address of texts) {
    const problem = await bindProblem(address);
    if (problem !== undefined) {
      const { code = 'BIND', errno = 0 } = problem;
      const reason = code === 'EADDRNOTAVAIL' ? 'this machine does not have it' : code;
      const message = `cannot bind connections to the local address ${address}: ${reason}`;
      const fatal: Fatal = { failureClass: 'noLocalPort', code, errno: Math.abs(errno), message };
      return { ok: false, fatal };
    }
    addresses.push({ address, family: isIP(address) === 6 ? 6 : 4 });
  }
  return { ok: true, addresses };
}

function bindProblem(host: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(error));
    server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Each shard begins elsewhere, so that many shards of one connection use all of them too. */
function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const start = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}

function refused(code: string, message: string): PreparedConnections {
  return { ok: false, fatal: { code, message } };
}

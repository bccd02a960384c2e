import { lookup as dnsLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AskedPlace, Fatal } from '@broadside/shared/engine';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** All addresses of a name; throws with a `code` such as `ENOTFOUND` as `dns.lookup` does. */
export type Lookup = (host: string) => Promise<readonly ResolvedAddress[]>;

/** The target policy: undefined where load may go, else a clause that says why it may not. */
export type TargetCheck = (place: AskedPlace) => string | undefined;

export interface ResolveOptions {
  readonly lookup: Lookup;
  /** Asked about each address, because names can point anywhere. */
  readonly refusalOf: TargetCheck;
  /** Only addresses of these families can be used; absent: both. */
  readonly families?: ReadonlySet<number>;
}

export interface TargetHost {
  readonly host: string;
  readonly port: number;
}

export type Resolution =
  | {
      readonly ok: true;
      readonly used: ResolvedAddress;
      /** All that can be used, `used` the first of them. */
      readonly usable: readonly [ResolvedAddress, ...ResolvedAddress[]];
      /** All there are, in text. */
      readonly addresses: readonly string[];
    }
  | { readonly ok: false; readonly fatal: Fatal };

/** The operating system's resolver (hosts file, DNS). */
export const systemLookup: Lookup = async (host) => {
  const found = await dnsLookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * Resolves the target's name once, before any load: what is connected to later are the addresses that were checked
 * here, whatever the name says by then. Of several addresses the first allowed one is used, IPv4 before IPv6:
 * `localhost` has both on most machines, and few servers that people try out listen on ::1.
 */
export async function resolveTarget(
  { host, port }: TargetHost,
  options: ResolveOptions,
): Promise<Resolution> {
  const family = isIP(host);
  let found: readonly ResolvedAddress[];
  if (family !== 0) found = [{ address: host, family: family === 6 ? 6 : 4 }];
  else {
    try {
      found = await options.lookup(host);
    } catch (error) {
      const code = codeOf(error);
      return refused(code, `cannot resolve ${host}: ${reasonOf(code)}`);
    }
  }
  if (found.length === 0) return refused('ENOTFOUND', `cannot resolve ${host}: the name has no address`);
  const ordered = [...found.filter((a) => a.family === 4), ...found.filter((a) => a.family === 6)];
  const addresses = ordered.map((a) => a.address);
  const { families } = options;
  const fitting = families === undefined ? ordered : ordered.filter((a) => families.has(a.family));
  if (fitting.length === 0) {
    const message = `${placeOf(host, addresses)} has no address of the family of the addresses to bind`;
    return refused('EAFNOSUPPORT', message);
  }
  const refusals = fitting.map(({ address }) => options.refusalOf({ host, port, address }));
  const [used, ...more] = fitting.filter((_, i) => refusals[i] === undefined);
  if (used === undefined) {
    const place = placeOf(host, addresses);
    return refused('NOT_ALLOWED', `the target policy does not allow load on ${place}: ${refusals[0] ?? ''}`);
  }
  return { ok: true, used, usable: [used, ...more], addresses };
}

/** A host with its addresses, which are not said twice where it is one itself. */
function placeOf(host: string, addresses: readonly string[]): string {
  return isIP(host) === 0 ? `${host} (${addresses.join(', ')})` : host;
}

function refused(code: string, message: string): Resolution {
  return { ok: false, fatal: { code, message } };
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return 'LOOKUP';
}

function reasonOf(code: string): string {
  if (code === 'ENOTFOUND') return 'the name is not known';
  if (code === 'EAI_AGAIN') return 'the name server does not answer';
  return code;
}

import type { TokenRole } from '@broadside/shared';

/** Who a token stands for. */
export interface Principal {
  readonly tokenId: string;
  readonly name: string;
  readonly role: TokenRole;
}

/** Who asks, and from where. */
export interface Caller extends Principal {
  /** Address of the client, behind proxies that are trusted. */
  readonly address: string;
}

/** Whoever asks a coordinator that listens on loopback only and has no token for people. */
export const UNNAMED: Principal = { tokenId: 'none', name: 'this machine', role: 'admin' };

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A token that is compared in constant time, whatever the length of what is offered. */
export class Secret {
  readonly #digest: Buffer;

  constructor(value: string) {
    this.#digest = digestOf(value);
  }

  matches(offered: string | undefined): boolean {
    return timingSafeEqual(this.#digest, digestOf(offered ?? '')) && offered !== undefined;
  }

  /** Checks the value of an `Authorization` header: `Bearer <token>` (RFC 6750 2.1). */
  matchesBearer(authorization: string | undefined): boolean {
    const match = /^Bearer +(\S+)$/i.exec(authorization ?? '');
    return this.matches(match?.[1]);
  }
}

/** 192 random bits, safe in a command line. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

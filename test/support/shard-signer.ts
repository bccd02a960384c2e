// The coordinator's half of signed shard jobs, for tests that give jobs to an agent themselves.

import { generateKeyPairSync, sign } from 'node:crypto';
import { PROTOCOL_VERSION, type SignedShard } from '@broadside/shared';

const LIFE_US = 600_000_000;

export class TestSigner {
  readonly #keys = generateKeyPairSync('ed25519');

  /** As the welcome carries it. */
  get publicKey(): string {
    return this.#keys.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  }

  /**
   * Signs whatever is given as a shard.
   * @param expiresAtUs of the coordinator's clock; ten minutes from now on this process's wall clock unless told.
   */
  sign(shard: unknown, agentId: string, expiresAtUs = Date.now() * 1_000 + LIFE_US): SignedShard {
    const order = JSON.stringify({ agentId, expiresAtUs, shard });
    const signature = sign(null, Buffer.from(order), this.#keys.privateKey).toString('base64');
    return { protocol: PROTOCOL_VERSION, order, signature };
  }
}

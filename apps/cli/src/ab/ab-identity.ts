import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { LIMITS } from '@broadside/shared';
import { describeFileError } from '../output/file-error.js';
import { PEM_CERTIFICATE, PEM_KEY } from '../run/pem-file.js';
import { readBoundedFile } from '../run/read-file.js';

/** A client certificate chain and its key, each as PEM text. */
export interface ClientIdentity {
  readonly cert: string;
  readonly key: string;
}

/**
 * Reads the file of `-E`: certificates and a key in one PEM file, in any order.
 * @returns both, or `ab`'s line that says what is missing.
 */
export async function readIdentity(path: string): Promise<ClientIdentity | string> {
  let text: string;
  try {
    text = (await readBoundedFile(path, 2 * LIMITS.maxPemBytes)).toString('latin1');
  } catch (error) {
    return `unable to get certificate from '${path}': ${describeFileError(error)}`;
  }
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) return `unable to get certificate from '${path}': it holds none`;
  const key = PEM_KEY.exec(text)?.[0];
  if (key === undefined) return `unable to get private key from '${path}': it holds none`;
  if (/ENCRYPTED/.test(key)) return `unable to get private key from '${path}': it is encrypted`;
  const identity = { cert: `${certificates.join('\n')}\n`, key: `${key}\n` };
  try {
    // The first certificate is the client's own.
    const isPair = new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(key));
    if (!isPair) return 'Private key does not match the certificate public key';
    createSecureContext(identity);
    return identity;
  } catch (error) {
    return `unable to use the certificate or the key from '${path}': ${reasonOf(error)}`;
  }
}

/** What is wrong with a list of ciphers, in `ab`'s words; undefined when nothing is. */
export function cipherListProblem(ciphers: string): string | undefined {
  try {
    createSecureContext({ ciphers });
    return undefined;
  } catch (error) {
    return `error setting ciphersuite list [${ciphers}]\n${reasonOf(error)}`;
  }
}

/** OpenSSL's words without its numbers and file names. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'reason' in error && typeof error.reason === 'string'
    ? error.reason
    : (error.message.split('\n', 1)[0] ?? '');
}

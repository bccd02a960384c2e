/** TLS by `node:tls`: one context for all connections of a shard, and what their handshakes tell. */
import { Buffer } from 'node:buffer';
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { ShardConnection } from '@broadside/shared/engine';
import type { TransportFacts } from '../transport-facts.js';
import { tlsReasonOf } from './tls-reason.js';

type TlsSettings = NonNullable<ShardConnection['tls']>;

/** Nothing can be sent with these settings: a broken certificate, a key that does not match, unknown ciphers. */
export class TlsSettingsError extends Error {
  override readonly name = 'TlsSettingsError';
}

/** What OpenSSL offers by itself, suites of TLS 1.3 included: Node drops that version without any of them. */
const SUITES_TLS_13 = 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256';

export class TlsDialing {
  /** For `tls.connect`, apart from where to connect to. */
  readonly #options: ConnectionOptions;
  readonly #settings: TlsSettings;
  readonly #facts: TransportFacts;
  #session: Buffer | undefined;

  /** @throws TlsSettingsError, with one line. */
  constructor(settings: TlsSettings, facts: TransportFacts) {
    this.#settings = settings;
    this.#facts = facts;
    this.#options = {
      secureContext: secureContextOf(settings),
      rejectUnauthorized: settings.verify,
      ALPNProtocols: ['http/1.1'],
      servername: settings.serverName,
      // The name that is checked may be another one than is sent, or none is sent.
      checkServerIdentity: (_, certificate) => checkServerIdentity(settings.verifyName, certificate),
    };
  }

  get options(): ConnectionOptions {
    const { resumeSessions } = this.#settings;
    return resumeSessions && this.#session !== undefined
      ? { ...this.#options, session: this.#session }
      : this.#options;
  }

  /** To be called for each socket before its handshake: tickets come whenever the target likes. */
  watch(socket: TLSSocket): void {
    if (!this.#settings.resumeSessions) return;
    socket.on('session', (session: Buffer) => {
      this.#session = session;
    });
  }

  noteSecure(socket: TLSSocket, tookUs: number): void {
    this.#facts.tls ??= {
      ...factsOf(socket),
      ...(this.#settings.serverName === '' ? {} : { serverName: this.#settings.serverName }),
      handshakes: 0,
      resumed: 0,
      handshakeSumUs: 0,
      handshakeMaxUs: 0,
    };
    const { tls } = this.#facts;
    tls.handshakes++;
    if (socket.isSessionReused()) tls.resumed++;
    tls.handshakeSumUs += tookUs;
    tls.handshakeMaxUs = Math.max(tls.handshakeMaxUs, tookUs);
  }
}

function secureContextOf(settings: TlsSettings): SecureContext {
  const { minVersion, maxVersion, ciphers, cert, key, ca } = settings;
  try {
    // OpenSSL itself takes a key of another kind than the certificate's, and then shows no certificate at all.
    const isPair = cert === undefined || key === undefined || isKeyOf(cert, key);
    if (!isPair) throw new TlsSettingsError('the key does not belong to the certificate');
    return createSecureContext({
      ciphers: cipherListOf(settings),
      ...(minVersion === undefined ? {} : { minVersion }),
      ...(maxVersion === undefined ? {} : { maxVersion }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(ca === undefined ? {} : { ca }),
    });
  } catch (error) {
    if (error instanceof TlsSettingsError) throw error;
    const what = cert === undefined && ciphers !== undefined ? `ciphers ${ciphers}` : 'TLS settings';
    throw new TlsSettingsError(`the ${what} cannot be used: ${tlsReasonOf(error)}`);
  }
}

function isKeyOf(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

function cipherListOf({ ciphers, maxVersion }: TlsSettings): string {
  const isOld = maxVersion === 'TLSv1' || maxVersion === 'TLSv1.1';
  // Versions before 1.2 sign with SHA-1, which OpenSSL allows at its lowest level only.
  if (ciphers === undefined) return isOld ? 'DEFAULT:@SECLEVEL=0' : `${SUITES_TLS_13}:DEFAULT`;
  const parts = ciphers.split(':');
  const hasSuites = parts.some((part) => part.startsWith('TLS_'));
  return hasSuites || (maxVersion !== undefined && maxVersion !== 'TLSv1.3')
    ? ciphers
    : `${SUITES_TLS_13}:${ciphers}`;
}

function factsOf(socket: TLSSocket) {
  const { name } = socket.getCipher();
  const tempKey = tempKeyOf(socket);
  return {
    protocol: socket.getProtocol() ?? 'unknown',
    cipher: name,
    publicKeyBits: publicKeyBitsOf(socket.getPeerX509Certificate()?.publicKey),
    cipherBits: cipherBitsOf(name),
    ...(tempKey === undefined ? {} : { tempKey }),
  };
}

/** As OpenSSL names it: curves that are a key type of their own by their name, others as ECDH. */
function tempKeyOf(socket: TLSSocket): string | undefined {
  const key: unknown = socket.getEphemeralKeyInfo();
  if (typeof key !== 'object' || key === null || !('size' in key)) return undefined;
  const name = 'name' in key && typeof key.name === 'string' ? key.name : undefined;
  if (name === undefined) return `${'type' in key ? String(key.type) : ''} ${String(key.size)} bits`;
  const isOwnType = name === 'X25519' || name === 'X448';
  return `${isOwnType ? '' : 'ECDH '}${name} ${String(key.size)} bits`;
}

const BITS_OF_CURVE: Readonly<Record<string, number>> = {
  prime256v1: 256,
  secp256k1: 256,
  secp224r1: 224,
  secp384r1: 384,
  secp521r1: 521,
  brainpoolP256r1: 256,
  brainpoolP384r1: 384,
  brainpoolP512r1: 512,
};
const BITS_OF_TYPE: Readonly<Record<string, number>> = { ed25519: 256, ed448: 456 };

/** 0: not known. */
function publicKeyBitsOf(key: KeyObject | undefined): number {
  const details = key?.asymmetricKeyDetails;
  return (
    details?.modulusLength ??
    BITS_OF_CURVE[details?.namedCurve ?? ''] ??
    BITS_OF_TYPE[key?.asymmetricKeyType ?? ''] ??
    0
  );
}

/** Node does not tell; the names do. 0: not known. */
function cipherBitsOf(name: string): number {
  if (/AES_?256|CHACHA20|CAMELLIA256|ARIA256/.test(name)) return 256;
  if (/AES_?128|CAMELLIA128|ARIA128|SEED|RC4|IDEA/.test(name)) return 128;
  return name.includes('DES-CBC3') ? 168 : 0;
}

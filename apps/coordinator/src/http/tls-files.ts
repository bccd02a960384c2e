/** The coordinator's certificate and key, read from files, and again when these change. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, unwatchFile, watchFile } from 'node:fs';
import { promisify } from 'node:util';
import { BroadsideError } from '@broadside/shared';
import type { Logger } from 'pino';

/** PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface TlsFilesOptions {
  readonly certFile: string;
  readonly keyFile: string;
  readonly log: Logger;
}

const read = promisify(readFile);
/** Looked at rather than listened for: mounted secrets are links that are turned to other folders. */
const WATCH_MS = 1_000;

export class TlsFiles {
  readonly #options: TlsFilesOptions;
  #pair: KeyPair;
  #onRenewed: ((pair: KeyPair) => void) | undefined;
  readonly #changed = (): void => void this.reload();

  private constructor(options: TlsFilesOptions, pair: KeyPair) {
    this.#options = options;
    this.#pair = pair;
    for (const file of [options.certFile, options.keyFile]) {
      watchFile(file, { interval: WATCH_MS, persistent: false }, this.#changed);
    }
  }

  /** @throws BroadsideError `invalid` when the files cannot be used. */
  static async open(options: TlsFilesOptions): Promise<TlsFiles> {
    try {
      return new TlsFiles(options, await readPair(options));
    } catch (error) {
      throw new BroadsideError('invalid', `the coordinator cannot serve TLS: ${reasonOf(error)}`, {
        hint: 'give --tls-cert and --tls-key as PEM files that belong together',
        cause: error,
      });
    }
  }

  get pair(): KeyPair {
    return this.#pair;
  }

  onRenewed(listener: (pair: KeyPair) => void): void {
    this.#onRenewed = listener;
  }

  /** Never rejects: files that do not fit together (yet) leave the certificate as it is. */
  async reload(): Promise<void> {
    const { log } = this.#options;
    try {
      const pair = await readPair(this.#options);
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key) return;
      this.#pair = pair;
      this.#onRenewed?.(pair);
      log.warn('the certificate was renewed');
    } catch (error) {
      log.error(`the certificate stays as it is: ${reasonOf(error)}`);
    }
  }

  close(): void {
    for (const file of [this.#options.certFile, this.#options.keyFile]) unwatchFile(file, this.#changed);
  }
}

async function readPair({ certFile, keyFile }: TlsFilesOptions): Promise<KeyPair> {
  const [cert, key] = await Promise.all([read(certFile, 'utf8'), read(keyFile, 'utf8')]);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error("the key is not the certificate's");
  }
  return { cert, key };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Certificates for one test run, made by Debian's openssl: an authority, and what it has signed. Nothing of it
// is trusted by anything outside the test.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertExitCode, runProcess } from './process.js';
import { programPath } from './programs.js';

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
  readonly certPath: string;
  readonly keyPath: string;
}

export interface Certificates {
  /** Folder of all the files; `remove` deletes it. */
  readonly folder: string;
  readonly ca: string;
  readonly caPath: string;
  /** RSA of 2048 bits, made out to localhost, target.test, 127.0.0.1 and ::1. */
  readonly server: KeyPair;
  /** The same names on an elliptic curve, P-256. */
  readonly curved: KeyPair;
  /** Of the right authority, but for other.test only. */
  readonly other: KeyPair;
  readonly client: KeyPair;
  /** Certificate and key of the client in one file, as `ab -E` wants them. */
  readonly clientBothPath: string;
  remove(): Promise<void>;
}

const NAMES = 'DNS:localhost,DNS:target.test,IP:127.0.0.1,IP:::1';

export async function makeCertificates(): Promise<Certificates> {
  const folder = await mkdtemp(join(tmpdir(), 'broadside-tls-'));
  const at = (name: string): string => join(folder, name);
  const openssl = async (...words: readonly string[]): Promise<void> => {
    assertExitCode(await runProcess(programPath('openssl'), words), 0);
  };
  const authority = ['-CA', at('ca.crt'), '-CAkey', at('ca.key')];
  const sign = async (name: string, subject: string, more: readonly string[]): Promise<KeyPair> => {
    const [keyPath, certPath] = [at(`${name}.key`), at(`${name}.crt`)];
    const files = ['-keyout', keyPath, '-out', certPath];
    await openssl('req', '-x509', ...authority, '-nodes', '-days', '2', '-subj', subject, ...files, ...more);
    const [cert, key] = await Promise.all([readFile(certPath, 'utf8'), readFile(keyPath, 'utf8')]);
    return { cert, key, certPath, keyPath };
  };
  const rsa = ['-newkey', 'rsa:2048'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const names = ['-addext', `subjectAltName=${NAMES}`, '-addext', 'basicConstraints=CA:FALSE'];
  const caFiles = ['-keyout', at('ca.key'), '-out', at('ca.crt')];
  await openssl('req', '-x509', ...curve, '-nodes', '-days', '2', '-subj', '/CN=test authority', ...caFiles);
  const server = await sign('server', '/CN=localhost', [...rsa, ...names]);
  const curved = await sign('curved', '/CN=localhost', [...curve, ...names]);
  const other = await sign('other', '/CN=other.test', [...curve, '-addext', 'subjectAltName=DNS:other.test']);
  const client = await sign('client', '/CN=the client', curve);
  const clientBothPath = at('both.pem');
  await writeFile(clientBothPath, `${client.key}${client.cert}`);
  return {
    folder,
    ca: await readFile(at('ca.crt'), 'utf8'),
    caPath: at('ca.crt'),
    server,
    curved,
    other,
    client,
    clientBothPath,
    remove: () => rm(folder, { recursive: true }),
  };
}

/** Certificates and keys in files, looked at before anything starts: OpenSSL's words for what is wrong name no file. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { EXIT, LIMITS } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { describeFileError } from '../output/file-error.js';
import { readBoundedFile } from './read-file.js';

export const PEM_CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END [A-Z0-9 ]*CERTIFICATE-----/g;
export const PEM_KEY =
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\s\S]*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----/;

const CERTIFICATE_ADVICE = 'give a file with certificates in PEM form (-----BEGIN CERTIFICATE-----)';
const KEY_ADVICE = 'give a file with a private key in PEM form (-----BEGIN PRIVATE KEY-----)';

/**
 * The text of a file that holds at least one certificate, and none that cannot be read.
 * @param name of the flag or variable that named the file.
 * @throws CliError with EXIT.file where it cannot be read, with EXIT.usage where it holds something else.
 */
export async function readCertificates(
  name: string,
  path: string,
  mostBytes: number = LIMITS.maxPemBytes,
): Promise<string> {
  return await readPem({ name, path, mostBytes, problemOf: certificateProblem, advice: CERTIFICATE_ADVICE });
}

/**
 * The text of a file that holds a private key without a passphrase.
 * @throws CliError as `readCertificates` does.
 */
export async function readPrivateKey(name: string, path: string): Promise<string> {
  const mostBytes = LIMITS.maxPemBytes;
  return await readPem({ name, path, mostBytes, problemOf: keyProblem, advice: KEY_ADVICE });
}

interface WantedPem {
  readonly name: string;
  readonly path: string;
  readonly mostBytes: number;
  readonly problemOf: (text: string) => string | undefined;
  readonly advice: string;
}

async function readPem({ name, path, mostBytes, problemOf, advice }: WantedPem): Promise<string> {
  let text: string;
  try {
    text = (await readBoundedFile(path, mostBytes)).toString('latin1');
  } catch (error) {
    throw new CliError(
      EXIT.file,
      `${name}: cannot read ${path}: ${describeFileError(error)}; ${advice}`,
      error,
    );
  }
  const problem = problemOf(text);
  if (problem !== undefined) throw new CliError(EXIT.usage, `${name}: ${path} ${problem}; ${advice}`);
  return text;
}

/** What is wrong with a text that should hold certificates. Pure. */
export function certificateProblem(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  const certificates = text.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0) {
    return PEM_KEY.test(text)
      ? 'holds a private key, and no certificate'
      : 'holds no certificate in PEM form';
  }
  const damaged = certificates.findIndex((pem) => !canParse(() => new X509Certificate(pem)));
  if (damaged < 0) return undefined;
  return certificates.length === 1
    ? 'holds a certificate that is damaged'
    : `holds ${certificates.length} certificates, of which number ${damaged + 1} is damaged`;
}

/** What is wrong with a text that should hold a private key. Pure. */
export function keyProblem(text: string): string | undefined {
  if (text.trim() === '') return 'is empty';
  const key = PEM_KEY.exec(text)?.[0];
  if (key === undefined) return 'holds no private key in PEM form';
  if (key.includes('ENCRYPTED')) return 'holds a key with a passphrase, which nobody could type';
  return canParse(() => createPrivateKey(key)) ? undefined : 'holds a private key that is damaged';
}

function canParse(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    // Which byte is wrong helps nobody: the file was cut off or mangled, or is no certificate at all.
    return false;
  }
}

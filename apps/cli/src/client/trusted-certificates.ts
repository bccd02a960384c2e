import { EXIT, LIMITS } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { fromEnvironment } from '../flags.js';
import { readNamedFile } from '../run/read-file.js';

/**
 * Certificates (PEM) that the coordinator's must come from: the file of a flag, else of BROADSIDE_CA. Undefined:
 * those that Node trusts.
 * @throws CliError with EXIT.file.
 */
export async function trustedCertificates(flag: string | undefined): Promise<string | undefined> {
  const file = flag ?? fromEnvironment('BROADSIDE_CA');
  if (file === undefined) return undefined;
  const text = (await readNamedFile('trusted certificates', file, LIMITS.maxCaBytes)).toString('utf8');
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new CliError(EXIT.file, `${file} holds no certificate in PEM form`);
}

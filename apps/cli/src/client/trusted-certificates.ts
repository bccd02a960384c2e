import { LIMITS } from '@broadside/shared';
import { fromEnvironment } from '../flags.js';
import { readCertificates } from '../run/pem-file.js';

/**
 * Certificates (PEM) that the coordinator's must come from: the file of a flag, else of BROADSIDE_CA. Undefined:
 * those that Node trusts.
 * @param name of the flag.
 * @throws CliError with EXIT.file or EXIT.usage.
 */
export async function trustedCertificates(
  name: '--ca' | '--coordinator-ca',
  file: string | undefined,
): Promise<string | undefined> {
  if (file !== undefined) return await readCertificates(name, file, LIMITS.maxCaBytes);
  const named = fromEnvironment('BROADSIDE_CA');
  return named === undefined ? undefined : await readCertificates('BROADSIDE_CA', named, LIMITS.maxCaBytes);
}

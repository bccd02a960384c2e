/** Flags of the commands that ask a coordinator: where it is, and who asks. Their help is in help/client-flags.ts. */
import { fromEnvironment } from '../flags.js';
import { CoordinatorClient, coordinatorAddress } from './coordinator-client.js';
import { tokenOf } from './coordinator-token.js';
import { trustedCertificates } from './trusted-certificates.js';

export const CLIENT_FLAGS = {
  coordinator: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  ca: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const USUAL_ADDRESS = 'http://127.0.0.1:7070';

export interface ClientValues {
  readonly coordinator?: string | undefined;
  readonly token?: string | undefined;
  readonly 'token-file'?: string | undefined;
  readonly ca?: string | undefined;
}

/** @throws CliError with EXIT.usage or EXIT.file. */
export async function clientOf(values: ClientValues): Promise<CoordinatorClient> {
  const named = fromEnvironment('BROADSIDE_COORDINATOR');
  const url = values.coordinator ?? named ?? USUAL_ADDRESS;
  const flag =
    values.coordinator === undefined && named !== undefined ? 'BROADSIDE_COORDINATOR' : '--coordinator';
  // The address is judged before any file is read.
  coordinatorAddress(flag, url, undefined);
  const token = await tokenOf({ token: values.token, tokenFile: values['token-file'] }, 'BROADSIDE_TOKEN');
  const ca = await trustedCertificates('--ca', values.ca);
  return new CoordinatorClient({ ...coordinatorAddress(flag, url, token), ca });
}

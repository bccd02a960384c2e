import { LIMITS, numberOrText } from '@broadside/shared';
import type { ReadFlags } from '../flags.js';
import { readCertificates, readPrivateKey } from './pem-file.js';
import type { PlanFile } from './plan-file.js';

/** Flags about how connections are made and what they go through. */
export const CONNECTION_FLAGS = {
  user: { type: 'string' },
  cookie: { type: 'string', multiple: true },
  proxy: { type: 'string' },
  'proxy-user': { type: 'string' },
  'unix-socket': { type: 'string' },
  'connect-to': { type: 'string' },
  bind: { type: 'string' },
  addresses: { type: 'string' },
  'connect-timeout': { type: 'string' },
  'socket-buffer': { type: 'string' },
  insecure: { type: 'boolean' },
  'server-name': { type: 'string' },
  'no-server-name': { type: 'boolean' },
  'tls-min': { type: 'string' },
  'tls-max': { type: 'string' },
  ciphers: { type: 'string' },
  cert: { type: 'string' },
  key: { type: 'string' },
  ca: { type: 'string' },
  'resume-sessions': { type: 'boolean' },
} as const;

export type ConnectionValues = ReadFlags<typeof CONNECTION_FLAGS>['values'];

/**
 * The fields of the plan that these flags give; TLS settings are added to those of the plan file.
 * @throws CliError with EXIT.file when a certificate or key cannot be read, with EXIT.usage when a file holds none.
 */
export async function connectionPlanFields(
  values: ConnectionValues,
  file: PlanFile | undefined,
): Promise<Record<string, unknown>> {
  const fields: Record<string, unknown> = {};
  if (values.user !== undefined) fields['user'] = values.user;
  if (values.proxy !== undefined) fields['proxy'] = values.proxy;
  if (values['proxy-user'] !== undefined) fields['proxyUser'] = values['proxy-user'];
  if (values['unix-socket'] !== undefined) fields['unixSocket'] = values['unix-socket'];
  if (values['connect-to'] !== undefined) fields['connectTo'] = values['connect-to'];
  if (values.bind !== undefined) fields['bind'] = values.bind;
  if (values.addresses !== undefined) fields['addresses'] = values.addresses;
  if (values['connect-timeout'] !== undefined) {
    fields['connectTimeout'] = values['connect-timeout'];
    fields['connectTimeoutMs'] = undefined;
  }
  const bufferText = values['socket-buffer'];
  if (bufferText !== undefined) {
    fields['socketBufferBytes'] = numberOrText(bufferText);
  }
  const tls = await tlsFields(values);
  if (Object.keys(tls).length > 0) fields['tls'] = { ...tlsOfFile(file), ...tls };
  return fields;
}

/** The Cookie line that the flags ask for: one, because RFC 6265 allows no second. */
export function cookieLines({ cookie }: ConnectionValues): string[] {
  return cookie === undefined ? [] : [`Cookie: ${cookie.join('; ')}`];
}

async function tlsFields(values: ConnectionValues): Promise<Record<string, unknown>> {
  const tls: Record<string, unknown> = {};
  if (values.insecure === true) tls['verify'] = false;
  if (values['server-name'] !== undefined) tls['serverName'] = values['server-name'];
  if (values['no-server-name'] === true) tls['serverName'] = '';
  if (values['tls-min'] !== undefined) tls['minVersion'] = tlsVersionName(values['tls-min']);
  if (values['tls-max'] !== undefined) tls['maxVersion'] = tlsVersionName(values['tls-max']);
  if (values.ciphers !== undefined) tls['ciphers'] = values.ciphers;
  if (values.cert !== undefined) tls['cert'] = await readCertificates('--cert', values.cert);
  if (values.key !== undefined) tls['key'] = await readPrivateKey('--key', values.key);
  if (values.ca !== undefined) tls['ca'] = await readCertificates('--ca', values.ca, LIMITS.maxCaBytes);
  if (values['resume-sessions'] === true) tls['resumeSessions'] = true;
  return tls;
}

/** `1.2` as well as `TLSv1.2`; anything else is left to the schema. */
function tlsVersionName(text: string): string {
  if (text === '1.0' || text === '1') return 'TLSv1';
  return /^1\.[123]$/.test(text) ? `TLSv${text}` : text;
}

/** Settings of the file that flags add to; anything that is not a map is left to the schema. */
function tlsOfFile(file: PlanFile | undefined): object {
  const tls = file?.value['tls'];
  return typeof tls === 'object' && tls !== null && !Array.isArray(tls) ? tls : {};
}

/** Field of the plan to the flags that give it. */
export const FLAGS_OF_CONNECTION_FIELD: Readonly<Record<string, readonly (keyof ConnectionValues)[]>> = {
  user: ['user'],
  proxy: ['proxy'],
  proxyUser: ['proxy-user'],
  unixSocket: ['unix-socket'],
  connectTo: ['connect-to'],
  bind: ['bind'],
  addresses: ['addresses'],
  connectTimeoutMs: ['connect-timeout'],
  connectTimeout: ['connect-timeout'],
  socketBufferBytes: ['socket-buffer'],
  'tls.verify': ['insecure'],
  'tls.serverName': ['server-name', 'no-server-name'],
  'tls.minVersion': ['tls-min'],
  'tls.maxVersion': ['tls-max'],
  'tls.ciphers': ['ciphers'],
  'tls.cert': ['cert'],
  'tls.key': ['key'],
  'tls.ca': ['ca'],
  'tls.resumeSessions': ['resume-sessions'],
  tls: [
    'insecure',
    'server-name',
    'no-server-name',
    'tls-min',
    'tls-max',
    'ciphers',
    'cert',
    'key',
    'ca',
    'resume-sessions',
  ],
};

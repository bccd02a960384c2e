import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { namingIssue } from './naming-issue.js';
import { strictFields } from './strict-fields.js';

/** Oldest first; the names that OpenSSL and Node use. */
export const TLS_VERSIONS = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Stands in reports and answers where a secret of the plan was. A plan that holds it cannot be carried out. */
export const REDACTED = '(redacted)';

const tlsVersion = z.enum(TLS_VERSIONS, `must be one of ${TLS_VERSIONS.join(', ')}`);

const PEM_BEGIN = '-----BEGIN ';

function pem(mostBytes: number) {
  return z
    .string()
    .max(mostBytes, `must be at most ${mostBytes} characters`)
    .refine((text) => text.includes(PEM_BEGIN), 'must be PEM text (-----BEGIN …), not the name of a file');
}

/** How TLS is spoken with an https target. Everything has a default. */
export const tlsSchema = strictFields(
  {
    /** Whether the target's certificate is checked against trusted ones and against the target's name. */
    verify: z.boolean().default(true),
    /** Name sent in the handshake (SNI, RFC 6066). Absent: the target's host; empty: none. Never an address. */
    serverName: z
      .string()
      .max(255)
      .regex(/^[0-9A-Za-z._-]*$/, 'must be a host name, or empty for none')
      .optional(),
    /** Absent: what the TLS library takes for safe. */
    minVersion: tlsVersion.optional(),
    maxVersion: tlsVersion.optional(),
    /** Cipher list in OpenSSL's form; suites of TLS 1.3 (`TLS_…`) may stand among the others. */
    ciphers: z
      .string()
      .min(1)
      .max(4_096)
      .regex(/^[\x21-\x7e]+$/, 'must be a list without blanks')
      .optional(),
    /** The client's certificate chain, own certificate first, as PEM text. Needs `key`. */
    cert: pem(LIMITS.maxPemBytes)
      .refine((text) => !text.includes('PRIVATE KEY-----'), 'holds a private key, which belongs in key')
      .optional(),
    /** The client's private key as PEM text, not encrypted. Secret: never shown in reports and answers. */
    key: z.union([z.literal(REDACTED), pem(LIMITS.maxPemBytes)]).optional(),
    /** Trusted certificates as PEM text, instead of those that Node comes with. */
    ca: pem(LIMITS.maxCaBytes).optional(),
    /** Whether new connections resume the TLS session of an earlier one, which saves most of the handshake. */
    resumeSessions: z.boolean().default(false),
  },
  'must be a map of TLS settings',
).superRefine((tls, context) => {
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    const missing = tls.cert === undefined ? 'cert' : 'key';
    context.addIssue(
      namingIssue(
        missing,
        (nameOf) => `is missing: ${nameOf('tls.cert')} and ${nameOf('tls.key')} go together`,
      ),
    );
  }
  const { minVersion, maxVersion } = tls;
  if (minVersion === undefined || maxVersion === undefined) return;
  if (TLS_VERSIONS.indexOf(minVersion) > TLS_VERSIONS.indexOf(maxVersion)) {
    context.addIssue(
      namingIssue('minVersion', (nameOf) => `is above ${nameOf('tls.maxVersion')} ${maxVersion}`),
    );
  }
});

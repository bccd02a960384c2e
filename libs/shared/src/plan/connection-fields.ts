import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { utf8Bytes } from './body-bytes.js';
import { parsePlace, parseProxy } from './proxy.js';
import { tlsSchema } from './tls.schema.js';

/** `name:password`; no line break, because both end in a header line. */
const credentials = z
  .string()
  .max(1_024)
  .regex(/^[^\r\n\0]*$/, 'must be one line')
  .refine((text) => text.includes(':') || text.startsWith('('), 'must be name:password');

const ipAddress = z.union([z.ipv4(), z.ipv6()], 'must be an IPv4 or IPv6 address');

/** The fields of a plan that say how connections are made and what they go through. */
export const connectionFields = {
  /** Basic authentication with the target, `name:password`. Secret: never shown in reports and answers. */
  user: credentials.optional(),
  /** HTTP proxy, `http://host[:port]` (8080): absolute form for http targets, a CONNECT tunnel for https. */
  proxy: z
    .string()
    .max(LIMITS.maxTargetLength)
    .superRefine((address, context) => {
      const proxy = parseProxy(address);
      if (typeof proxy === 'string') context.addIssue({ code: 'custom', message: proxy });
    })
    .optional(),
  /** Basic authentication with the proxy, `name:password`. Secret. */
  proxyUser: credentials.optional(),
  /** Absolute path of a unix socket to connect to instead of the target's host and port. */
  unixSocket: z
    .string()
    .regex(/^\/[^\0]*$/, 'must be an absolute path')
    .refine(
      (path) => utf8Bytes(path) <= LIMITS.maxUnixSocketPathBytes,
      `must be at most ${LIMITS.maxUnixSocketPathBytes} bytes`,
    )
    .optional(),
  /** `host[:port]` to connect to instead of the target's; Host header and TLS names stay the target's. */
  connectTo: z
    .string()
    .max(LIMITS.maxTargetLength)
    .superRefine((address, context) => {
      const isPlace = !address.includes('/') && typeof parsePlace(address, 1) !== 'string';
      if (!isPlace)
        context.addIssue({ code: 'custom', message: 'must be host[:port], with a port from 1 to 65535' });
    })
    .optional(),
  /** Local addresses that connections are bound to, in turn; a list, or text with commas. */
  bind: z
    .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
    .pipe(z.array(ipAddress).min(1).max(LIMITS.maxBindAddresses))
    .optional(),
  /** Which addresses of a name with several are used: the first, or all in turn. */
  addresses: z.enum(['first', 'spread'], 'must be first or spread').optional(),
  /** Send and receive buffer of each socket; absent: the operating system decides. */
  socketBufferBytes: z
    .number('must be a whole number')
    .multipleOf(1, 'must be a whole number')
    .min(1, 'must be at least 1')
    .max(LIMITS.maxSocketBufferBytes, `must be at most ${LIMITS.maxSocketBufferBytes}`)
    .optional(),
  /** Only with an https target. */
  tls: tlsSchema.optional(),
};

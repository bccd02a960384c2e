/** Everything that a coordinator can be told, in one schema with one table of defaults. */
import { isIP } from 'node:net';
import { BroadsideError, problemsOf } from '@broadside/shared';
import { z } from 'zod';

const CONFIG_DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  dataDir: 'ephemeral',
  logLevel: 'warn',
} as const;

/** Beyond this machine a token is all that stands between a stranger and a load cluster. */
const MIN_PUBLIC_TOKEN_LENGTH = 16;

const token = z
  .string()
  .max(512, 'must be at most 512 characters')
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks');

function address(schemes: readonly string[], example: string) {
  return z
    .string()
    .max(2_000)
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol),
      `must look like ${example}`,
    );
}

const redisAddress = address(['redis:', 'rediss:'], 'redis://host:6379');

export const configSchema = z
  .strictObject({
    host: z.string().min(1).max(255).default(CONFIG_DEFAULTS.host),
    port: z
      .number('must be a port number')
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(65_535, 'must be at most 65535')
      .default(CONFIG_DEFAULTS.port),
    /** Where an embedded store is kept; `ephemeral`: for the life of the process. */
    dataDir: z.string().min(1).max(4_096).default(CONFIG_DEFAULTS.dataDir),
    databaseUrl: address(['postgres:', 'postgresql:'], 'postgres://host:5432/database').optional(),
    redisUrl: redisAddress.optional(),
    /** The address of Redis as agents reach it, where it differs from `redisUrl`. */
    agentRedisUrl: redisAddress.optional(),
    joinToken: token.optional(),
    apiToken: token.optional(),
    logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default(CONFIG_DEFAULTS.logLevel),
  })
  .superRefine((config, context) => {
    if (config.agentRedisUrl !== undefined && config.redisUrl === undefined) {
      context.addIssue({ code: 'custom', path: ['agentRedisUrl'], message: 'needs redisUrl' });
    }
    if (isLoopback(config.host)) return;
    for (const name of ['joinToken', 'apiToken'] as const) {
      const value = config[name];
      if (value === undefined) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `is required to listen on ${config.host}, because others can reach it`,
        });
      } else if (value.length < MIN_PUBLIC_TOKEN_LENGTH) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `must have at least ${MIN_PUBLIC_TOKEN_LENGTH} characters to listen on ${config.host}`,
        });
      }
    }
  });

export type ConfigInput = z.input<typeof configSchema>;
export type Config = Readonly<z.output<typeof configSchema>>;

/**
 * Checks a configuration and freezes it.
 * @throws BroadsideError `invalid` that lists every problem; it never repeats a value that may be secret.
 */
export function parseConfig(input: ConfigInput): Config {
  const result = configSchema.safeParse(input);
  if (result.success) return Object.freeze(result.data);
  const problems = problemsOf(result.error);
  const lines = problems.map((problem) => `${problem.path}: ${problem.message}`);
  throw new BroadsideError('invalid', `the coordinator cannot start: ${lines.join('; ')}`, {
    problems,
    hint: problems.some((problem) => problem.path.endsWith('Token'))
      ? 'give both tokens, or listen on 127.0.0.1'
      : 'correct these settings',
  });
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}

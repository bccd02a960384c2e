/** Everything that a coordinator can be told, in one schema with one table of defaults. */
import { isIP } from 'node:net';
import {
  BroadsideError,
  formatProblem,
  LIMITS,
  problemsOf,
  readTokenText,
  type TokenKind,
  targetRulesSchema,
} from '@broadside/shared';
import { z } from 'zod';
import { isNetwork } from '../access/forwarding.js';

export const CONFIG_DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  dataDir: 'ephemeral',
  logLevel: 'warn',
} as const;

/** Beyond this machine a token is all that stands between a stranger and a load cluster. */
const MIN_PUBLIC_TOKEN_LENGTH = 16;

/** A token that somebody chose or that was made elsewhere, for people or for agents. */
export function givenTokenSchema(kind: TokenKind, host: string) {
  const leastLength = isLoopback(host) ? 1 : MIN_PUBLIC_TOKEN_LENGTH;
  return z
    .string()
    .min(
      leastLength,
      leastLength === 1
        ? 'must not be empty'
        : `must have at least ${leastLength} characters to listen on ${host}`,
    )
    .max(512, 'must be at most 512 characters')
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without blanks')
    .superRefine((text, context) => {
      const found = readTokenText(text);
      if (found === 'damaged') context.addIssue('is damaged: cut off, or mistyped');
      else if (found !== 'other' && found !== kind) context.addIssue(`must not be one for ${OWNERS[found]}`);
    });
}

const OWNERS = { user: 'people', agent: 'agents' } as const;

function address(schemes: readonly string[], example: string) {
  return z
    .string()
    .max(2_000)
    .refine(
      (text) => URL.canParse(text) && schemes.includes(new URL(text).protocol),
      `must look like ${example}`,
    )
    .refine(
      (text) => !URL.canParse(text) || new URL(text).port !== '0',
      'port 0 is no port that can be connected to',
    );
}

function ceiling(most: number) {
  return z.number().int('must be a whole number').min(1, 'must be at least 1').max(most).optional();
}

const redisAddress = address(['redis:', 'rediss:'], 'redis://host:6379');

const configFields = z.strictObject({
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
  /** What agents may show besides the made tokens with that role; made up when it is absent. */
  joinToken: z.string().optional(),
  /** A token with the role admin. */
  apiToken: z.string().optional(),
  /** Holds a token with the role admin; the first one is made and written there when nothing is. */
  adminTokenFile: z.string().min(1).max(4_096).optional(),
  /** Proxies whose word is taken for who their client is: addresses, or networks like 10.0.0.0/8. */
  trustedProxies: z
    .array(z.string().refine(isNetwork, 'must be an address, or a network like 10.0.0.0/8'))
    .max(LIMITS.maxTrustedProxies)
    .default([]),
  /** PEM files; with them the coordinator serves https and wss only. Read again when they change. */
  tlsCertFile: z.string().min(1).max(4_096).optional(),
  tlsKeyFile: z.string().min(1).max(4_096).optional(),
  /** Wrong tokens of one address within a minute, after which no more guesses are looked at. */
  maxFailedLogins: z.int().min(1).max(LIMITS.maxFailedLoginsOverall).default(LIMITS.maxFailedLogins),
  /** Where load may go, instead of the default: loopback and private networks on a cluster, else everywhere. */
  allowTargets: targetRulesSchema.optional(),
  /** Where none may go, whatever is allowed. */
  denyTargets: targetRulesSchema.optional(),
  /** Ceilings of the load: requests per second and connections, of one run and of all runs together. */
  maxRunRate: ceiling(LIMITS.maxRate),
  maxRate: ceiling(LIMITS.maxRate),
  maxRunConnections: ceiling(LIMITS.maxConnections),
  maxConnections: ceiling(LIMITS.maxConnections),
  /** Ended runs that the store keeps; older ones are forgotten when a run ends. */
  keepRuns: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(LIMITS.maxKeptRuns, `must be at most ${LIMITS.maxKeptRuns}`)
    .default(LIMITS.defaultKeptRuns),
  logLevel: z.enum(['silent', 'error', 'warn', 'info', 'debug']).default(CONFIG_DEFAULTS.logLevel),
});

/** With what settings must fulfil together; problems name others as a person does. */
function configSchemaFor(nameOf: NameOfSetting) {
  return configFields.superRefine((config, context) => {
    if (config.agentRedisUrl !== undefined && config.redisUrl === undefined) {
      context.addIssue({ code: 'custom', path: ['agentRedisUrl'], message: `needs ${nameOf('redisUrl')}` });
    }
    if ((config.tlsCertFile === undefined) !== (config.tlsKeyFile === undefined)) {
      const [name, other] =
        config.tlsCertFile === undefined
          ? (['tlsCertFile', 'tlsKeyFile'] as const)
          : (['tlsKeyFile', 'tlsCertFile'] as const);
      context.addIssue({ code: 'custom', path: [name], message: `is needed beside ${nameOf(other)}` });
    }
    for (const [name, kind] of [
      ['joinToken', 'agent'],
      ['apiToken', 'user'],
    ] as const) {
      const given = config[name];
      const checked = given === undefined ? undefined : givenTokenSchema(kind, config.host).safeParse(given);
      for (const { message } of checked?.error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [name], message });
      }
    }
    if (config.joinToken !== undefined && config.joinToken === config.apiToken) {
      const message = 'must not be the token for people: agents would pass for an admin';
      context.addIssue({ code: 'custom', path: ['joinToken'], message });
    }
    // A store that outlives the process may hold tokens; that is seen when it is open.
    const mayHoldTokens = config.dataDir !== CONFIG_DEFAULTS.dataDir || config.databaseUrl !== undefined;
    const isGuarded = config.apiToken !== undefined || config.adminTokenFile !== undefined;
    if (isLoopback(config.host) || isGuarded || mayHoldTokens) return;
    const message = `is required to listen on ${config.host}, because others can reach it`;
    context.addIssue({ code: 'custom', path: ['apiToken'], message });
  });
}

export type ConfigInput = z.input<typeof configFields>;
export type Config = Readonly<z.output<typeof configFields>>;
/** What a person calls a setting. */
export type NameOfSetting = (field: keyof ConfigInput) => string;

/**
 * Checks a configuration and freezes it.
 * @param nameOf what a person calls a setting: the flag or the variable that gave it.
 * @throws BroadsideError `invalid` that lists every problem; it never repeats a value that may be secret.
 */
export function parseConfig(input: ConfigInput, nameOf: NameOfSetting = (field) => field): Config {
  const result = configSchemaFor(nameOf).safeParse(input);
  if (result.success) return Object.freeze(result.data);
  const problems = problemsOf(result.error);
  const named = problems.map(({ path, message }) => {
    // A member of a list is named as the whole list.
    const [field = ''] = path.split('.');
    return { path: isSetting(field) ? nameOf(field) : path, message };
  });
  throw new BroadsideError(
    'invalid',
    `the coordinator cannot start: ${named.map(formatProblem).join('; ')}`,
    {
      problems: named,
      hint: hintFor(new Set(problems.map(({ path }) => path)), nameOf),
    },
  );
}

/** What helps against problems with the settings of these names: each kind of token comes to be in its own way. */
function hintFor(paths: ReadonlySet<string>, nameOf: NameOfSetting): string {
  if (paths.has('apiToken')) return 'let it make one with --admin-token-file FILE, or listen on 127.0.0.1';
  if (paths.has('joinToken')) return `leave ${nameOf('joinToken')} out, and a join token is made up`;
  return 'correct these settings';
}

function isSetting(path: string): path is keyof ConfigInput {
  return Object.hasOwn(configFields.shape, path);
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}

import {
  type CreateToken,
  createTokenSchema,
  EXIT,
  formatProblem,
  LIMITS,
  nearestOf,
  parseDurationMs,
  problemsOf,
} from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { readFlags } from '../flags.js';
import { help, LEAST_LIFE, MOST_LIFE } from '../help/token.help.js';
import { writeNote, writeOut } from '../output/streams.js';
import { createdTokenNote, tokenTable } from '../output/token-text.js';

export const FLAGS = {
  ...CLIENT_FLAGS,
  role: { type: 'string' },
  name: { type: 'string' },
  expires: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const ACTIONS = ['create', 'list', 'revoke'] as const;
const FLAGS_OF_ACTION: Readonly<Record<(typeof ACTIONS)[number], readonly string[]>> = {
  create: ['role', 'name', 'expires'],
  list: ['json'],
  revoke: [],
};
const DAY_MS = 86_400_000;

/** `broadside token`. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('token', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  const [word, ...rest] = positionals;
  const action = actionOf(word);
  refuseStrangers(action, values, rest);
  switch (action) {
    case 'create': {
      const asked = createRequest(values);
      const created = await (await clientOf(values)).createToken(asked);
      await writeOut(`${created.token}\n`);
      writeNote(createdTokenNote(created));
      return EXIT.ok;
    }
    case 'list': {
      const tokens = await (await clientOf(values)).listTokens();
      await writeOut(values.json === true ? `${JSON.stringify(tokens, null, 2)}\n` : tokenTable(tokens));
      return EXIT.ok;
    }
    case 'revoke': {
      const revoked = await (await clientOf(values)).revokeToken(rest[0] ?? '');
      writeNote(`revoked ${revoked.id} (${revoked.role}, ${revoked.name})`);
      return EXIT.ok;
    }
  }
}

function actionOf(word: string | undefined): (typeof ACTIONS)[number] {
  const action = ACTIONS.find((one) => one === word);
  if (action !== undefined) return action;
  const near = word === undefined ? undefined : nearestOf(word, ACTIONS);
  const given = word === undefined ? '' : `, not ${JSON.stringify(word)}`;
  const hint = near === undefined ? 'see `broadside help token`' : `did you mean ${near}?`;
  throw new CliError(EXIT.usage, `token: say create, list or revoke${given}; ${hint}`);
}

type Values = ReturnType<typeof readFlags<typeof FLAGS>>['values'];

/** A flag or a word that belongs to another action is a mistake, not to be passed over. */
function refuseStrangers(action: (typeof ACTIONS)[number], values: Values, rest: readonly string[]): void {
  const strange = (['role', 'name', 'expires', 'json'] as const).find(
    (flag) => values[flag] !== undefined && !FLAGS_OF_ACTION[action].includes(flag),
  );
  if (strange !== undefined) throw new CliError(EXIT.usage, `token ${action}: takes no --${strange}`);
  const wanted = action === 'revoke' ? 1 : 0;
  if (rest.length === wanted && rest[0] !== '') return;
  const what =
    action === 'revoke' ? 'give the id of one token, as `broadside token list` shows it' : 'takes no words';
  throw new CliError(EXIT.usage, `token ${action}: ${what}`);
}

function createRequest({ role, name, expires }: Values): CreateToken {
  if (role === undefined)
    throw new CliError(EXIT.usage, 'token create: give --role viewer, operator, admin or agent');
  if (name === undefined) throw new CliError(EXIT.usage, 'token create: say with --name who will hold it');
  const expiresInMs = expires === undefined ? undefined : lifeOf(expires);
  const parsed = createTokenSchema.safeParse({
    role,
    name,
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  });
  if (parsed.success) return parsed.data;
  const [problem] = problemsOf(parsed.error).map((one) =>
    formatProblem({ ...one, path: one.path === 'expiresInMs' ? '--expires' : `--${one.path}` }),
  );
  throw new CliError(EXIT.usage, `token create: ${problem ?? 'not valid'}`);
}

/** `30d`, or a duration as everywhere else. */
function lifeOf(text: string): number {
  const days = /^(\d{1,5})d$/.exec(text.trim())?.[1];
  const lifeMs = days === undefined ? parseDurationMs(text) : Number(days) * DAY_MS;
  if (lifeMs === undefined) {
    throw new CliError(
      EXIT.usage,
      `token create: --expires ${JSON.stringify(text)}: must be like 12h or 30d`,
    );
  }
  if (lifeMs < LIMITS.minTokenLifeMs)
    throw new CliError(EXIT.usage, `token create: --expires: must be at least ${LEAST_LIFE}`);
  if (lifeMs > LIMITS.maxTokenLifeMs)
    throw new CliError(EXIT.usage, `token create: --expires: must be at most ${MOST_LIFE}`);
  return lifeMs;
}

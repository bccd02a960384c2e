import { EXIT, LIMITS, parseTargetRule } from '@broadside/shared';
import { CliError } from './cli-error.js';
import { fromEnvironment } from './flags.js';

/** Of `serve` and `agent`: where load may go. */
export const TARGET_FLAGS = {
  'allow-target': { type: 'string', multiple: true },
  'deny-target': { type: 'string', multiple: true },
} as const;

interface TargetRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/**
 * The rules of the flags, or else of BROADSIDE_ALLOW_TARGETS and BROADSIDE_DENY_TARGETS, which have commas between
 * theirs, as a flag may have too.
 * @throws CliError with EXIT.usage.
 */
export function targetRules(values: {
  readonly 'allow-target'?: readonly string[] | undefined;
  readonly 'deny-target'?: readonly string[] | undefined;
}): TargetRules {
  const allow = rulesOf('--allow-target', values['allow-target'], 'BROADSIDE_ALLOW_TARGETS');
  const deny = rulesOf('--deny-target', values['deny-target'], 'BROADSIDE_DENY_TARGETS');
  return { ...(allow === undefined ? {} : { allow }), ...(deny === undefined ? {} : { deny }) };
}

function rulesOf(
  flag: string,
  given: readonly string[] | undefined,
  variable: string,
): readonly string[] | undefined {
  const fromVariable = fromEnvironment(variable);
  const texts = given ?? (fromVariable === undefined ? undefined : [fromVariable]);
  const source = given === undefined ? variable : flag;
  const rules = texts?.flatMap((text) => text.split(',')).map((text) => text.trim());
  for (const rule of rules ?? []) {
    const problem = parseTargetRule(rule);
    if (typeof problem === 'string') {
      throw new CliError(EXIT.usage, `${source} ${JSON.stringify(rule.slice(0, 80))}: ${problem}`);
    }
  }
  if ((rules?.length ?? 0) > LIMITS.maxTargetRules) {
    throw new CliError(EXIT.usage, `${source}: must be at most ${LIMITS.maxTargetRules} rules`);
  }
  return rules;
}

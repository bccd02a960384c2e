import { LIMITS, type Plan, splitPlan } from '@broadside/shared';
import { assertPlanFits } from '../client/coordinator-client.js';
import { wholeNumberFlag } from '../flags.js';
import { describeFileError } from '../output/file-error.js';
import { readBoundedFile } from '../run/read-file.js';
import { type ClientIdentity, cipherListProblem, readIdentity } from './ab-identity.js';
import { AB_EXIT, type AbOptions } from './ab-options.js';
import { describeAbProblems, planOfAb } from './ab-plan.js';

/** The plan, or the lines that say why there is none, and `ab`'s exit code for that. */
export type PreparedAbPlan =
  | { readonly ok: true; readonly plan: Plan }
  | { readonly ok: false; readonly text: string; readonly exitCode: number };

/** Reads the files that the options name and makes the plan. @throws CliError where ours are wrong. */
export async function prepareAbPlan(options: AbOptions): Promise<PreparedAbPlan> {
  let body: Buffer | undefined;
  if (options.bodyFile !== undefined) {
    try {
      body = await readBoundedFile(options.bodyFile, LIMITS.maxRequestBodyBytes);
    } catch (error) {
      return valueError(
        `ab: Could not open POST data file (${options.bodyFile}): ${describeFileError(error)}`,
      );
    }
  }
  const tls = await readTlsValues(options);
  if (typeof tls === 'string') return valueError(tls);
  wholeNumberFlag('--slots', options.slots, { least: 1, most: LIMITS.maxShards });
  const parsed = planOfAb(options, body, tls.identity);
  if (!parsed.ok) {
    return { ok: false, text: `ab: ${describeAbProblems(parsed)}`, exitCode: AB_EXIT.usage };
  }
  assertPlanFits(parsed.plan);
  return { ok: true, plan: parsed.plan };
}

/** What `ab` refuses before it says anything, even where the target is not https. */
async function readTlsValues(options: AbOptions): Promise<{ identity?: ClientIdentity } | string> {
  const problem = options.ciphers === undefined ? undefined : cipherListProblem(options.ciphers);
  if (problem !== undefined) return problem;
  if (options.certificateFile === undefined) return {};
  const identity = await readIdentity(options.certificateFile);
  return typeof identity === 'string' ? identity : { identity };
}

function valueError(text: string): PreparedAbPlan {
  return { ok: false, text, exitCode: AB_EXIT.valueError };
}

/** The request as it goes on the wire, the bytes of its body as Latin-1. */
export function abRequestText(plan: Plan): string {
  const [shard] = splitPlan(plan, 'run', 1);
  if (shard === undefined) throw new TypeError('a plan has at least one shard');
  const { method, httpVersion, headerLines, bodyBase64 = '', requestTarget } = shard.request;
  const requestLine = `${method} ${requestTarget ?? shard.target.path} HTTP/${httpVersion}`;
  const body = Buffer.from(bodyBase64, 'base64').toString('latin1');
  return [requestLine, ...headerLines, '', body].join('\r\n');
}

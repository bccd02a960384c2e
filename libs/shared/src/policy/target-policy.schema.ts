import { z } from 'zod';
import { LIMITS } from '../limits.js';
import { parseTargetRule } from './target-rule.js';

/** Rules of one kind, in text. */
export const targetRulesSchema = z
  .array(
    z.string().superRefine((text, context) => {
      const rule = parseTargetRule(text);
      if (typeof rule === 'string') context.addIssue({ code: 'custom', message: rule });
    }),
  )
  .max(LIMITS.maxTargetRules, `must be at most ${LIMITS.maxTargetRules} rules`)
  .readonly();

/** Where load may go, as the coordinator tells its agents. */
export const targetPolicySchema = z.object({ allow: targetRulesSchema, deny: targetRulesSchema });

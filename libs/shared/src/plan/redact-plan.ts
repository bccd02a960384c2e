import type { Plan } from './plan.schema.js';
import type { Shard } from './shard.schema.js';
import { REDACTED } from './tls.schema.js';

/** Headers whose values let somebody in. */
const SECRET_HEADER = /^((?:proxy-)?authorization|cookie)\s*:(?!\s*\(redacted\)$)/i;

/**
 * The plan without its secrets, for reports, answers and lists: each is replaced by `(redacted)`, so that it
 * shows that there was one. The result is a valid plan, but not one that can be carried out.
 */
export function redactPlan(plan: Plan): Plan {
  const { user, proxyUser, tls } = plan;
  return {
    ...plan,
    headers: plan.headers.map((line) => {
      const name = SECRET_HEADER.exec(line)?.[1];
      return name === undefined ? line : `${name}: ${REDACTED}`;
    }),
    ...(user === undefined ? {} : { user: REDACTED }),
    ...(proxyUser === undefined ? {} : { proxyUser: REDACTED }),
    ...(tls?.key === undefined ? {} : { tls: { ...tls, key: REDACTED } }),
  };
}

/** Where a plan holds the mark of a removed secret: it was copied from a report, and needs the secret again. */
export function redactedFields(plan: Plan): string[] {
  const fields = ['user', 'proxyUser'].filter((name) => plan[name as 'user' | 'proxyUser'] === REDACTED);
  if (plan.tls?.key === REDACTED) fields.push('tls.key');
  for (const [i, line] of plan.headers.entries()) {
    if (line.endsWith(`: ${REDACTED}`)) fields.push(`headers.${i}`);
  }
  return fields;
}

/** Whether a shard carries a secret: what holds it is to be kept no longer than needed. */
export function holdsSecrets({ request, connection }: Pick<Shard, 'request' | 'connection'>): boolean {
  const lines = [...request.headerLines, ...(connection?.proxy?.connectLines ?? [])];
  return connection?.tls?.key !== undefined || lines.some((line) => SECRET_HEADER.test(line));
}

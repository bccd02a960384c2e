import type { Plan } from '../plan/plan.schema.js';
import { parsePlace, parseProxy } from '../plan/proxy.js';
import { hostHeaderOf, parseTarget } from '../plan/target.js';
import { type AskedPlace, judgeTarget, type TargetPolicy } from './target-policy.js';

type TargetFields = Pick<Plan, 'target' | 'proxy' | 'connectTo' | 'unixSocket'>;

/**
 * Every place that a plan connects to, or lets a proxy connect to. A plan's Host header and the host of its target
 * beside `connectTo` are only text that is sent.
 */
export function placesOf(plan: TargetFields): AskedPlace[] {
  if (plan.unixSocket !== undefined) return [{ unixSocket: plan.unixSocket }];
  const target = parseTarget(plan.target);
  if (typeof target === 'string') throw new TypeError(`plan with a bad target: ${target}`);
  const proxy = plan.proxy === undefined ? undefined : parseProxy(plan.proxy);
  if (typeof proxy === 'object') return [proxy, target];
  const instead = plan.connectTo === undefined ? undefined : parsePlace(plan.connectTo, target.port);
  return [typeof instead === 'object' ? instead : target];
}

export interface TargetRefusal {
  /** As a person would write it in a rule. */
  readonly place: string;
  readonly why: string;
}

/** The first place of the plan that the policy refuses; what only its address can tell, the agents judge. */
export function refusedTargetOf(policy: TargetPolicy, plan: TargetFields): TargetRefusal | undefined {
  for (const place of placesOf(plan)) {
    const judgement = judgeTarget(policy, place);
    if (judgement.kind === 'refused') return { place: nameOf(place), why: judgement.why };
  }
  return undefined;
}

function nameOf(place: AskedPlace): string {
  if ('unixSocket' in place) return `unix:${place.unixSocket}`;
  const text = hostHeaderOf({ scheme: 'http', host: place.host, port: place.port, path: '/' });
  return place.port === 80 ? `${text}:80` : text;
}

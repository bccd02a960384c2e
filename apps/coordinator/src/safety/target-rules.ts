import { CLUSTER_TARGETS, OPEN_TARGETS, type TargetPolicyTexts } from '@broadside/shared';
import { type Config, isLoopback } from '../config/config.schema.js';

type TargetConfig = Pick<Config, 'host' | 'redisUrl' | 'allowTargets' | 'denyTargets'>;

/**
 * The target policy of a coordinator. One that others can reach, or whose agents are on other machines, is a
 * cluster; one for a single person on one machine goes where that person types.
 */
export function targetRulesOf({
  host,
  redisUrl,
  allowTargets,
  denyTargets = [],
}: TargetConfig): TargetPolicyTexts {
  const isCluster = redisUrl !== undefined || !isLoopback(host);
  const { allow } = isCluster ? CLUSTER_TARGETS : OPEN_TARGETS;
  return { allow: allowTargets ?? allow, deny: denyTargets };
}

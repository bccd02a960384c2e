import type { Coordinator, CoordinatorOptions } from '@broadside/coordinator';
import { formatCounted } from '@broadside/shared';

export interface Welcome extends Pick<Coordinator, 'url' | 'needsToken' | 'adminTokenFileUse'> {
  readonly settings: Pick<
    CoordinatorOptions,
    'adminTokenFile' | 'apiToken' | 'agentRedisUrl' | 'databaseUrl' | 'dataDir' | 'redisUrl'
  >;
  readonly slots: number;
  /** Holds the join token that was made up. */
  readonly tokenFile: string | undefined;
}

/** What `broadside serve` says when it is ready, and what can be done next. */
export function welcomeText({
  url,
  settings,
  slots,
  tokenFile,
  needsToken,
  adminTokenFileUse,
}: Welcome): string {
  const tokenHint = needsToken ? '   (with BROADSIDE_TOKEN set)' : '';
  const joinHint =
    tokenFile === undefined ? '   (with BROADSIDE_JOIN_TOKEN set)' : ` --token-file ${tokenFile}`;
  const lines = [
    `broadside coordinator listens on ${url}`,
    slots === 0 ? '  no slots here: agents bring them' : `  ${formatCounted(slots, 'slot')} in this process`,
    settings.redisUrl === undefined
      ? '  join agents: start with --redis URL, then agents on any machine can join'
      : `  join an agent: broadside agent --join ${url}${joinHint}`,
    adminLine(settings, adminTokenFileUse),
    `  fire a run:    broadside ab --agents-at ${url} -n 10000 -c 10 -k http://HOST/${tokenHint}`,
    settings.dataDir === undefined && settings.databaseUrl === undefined
      ? '  runs are forgotten at the end; --data-dir DIR keeps them'
      : '',
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

function adminLine(
  { adminTokenFile, apiToken }: Welcome['settings'],
  use: Welcome['adminTokenFileUse'],
): string {
  if (use !== 'unneeded') return use === undefined ? '' : `  the first admin's token: ${adminTokenFile}`;
  const wayIn = apiToken === undefined ? '; who has lost that token starts with BROADSIDE_TOKEN=… set' : '';
  return `  somebody is admin already, so no token was made${wayIn}`;
}

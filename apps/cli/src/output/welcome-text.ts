import type { Coordinator, CoordinatorOptions } from '@broadside/coordinator';
import { formatCounted } from '@broadside/shared';

export interface Welcome extends Pick<Coordinator, 'url' | 'needsToken' | 'adminTokenFileUse'> {
  readonly settings: Pick<
    CoordinatorOptions,
    'adminTokenFile' | 'apiToken' | 'agentRedisUrl' | 'databaseUrl' | 'dataDir' | 'redisUrl'
  >;
  readonly slots: number;
  /** What other machines may know this one by. */
  readonly hostname: string;
  /** Holds the join token that was made up. */
  readonly tokenFile: string | undefined;
}

/** What `broadside serve` says when it is ready, and what can be done next. */
export function welcomeText({
  url,
  hostname,
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
      : `  join an agent: broadside agent --join ${reachable(url, hostname)}${joinHint}`,
    redisLine(url, settings),
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

/** Hosts that mean every address of a machine, in a URL. */
const ANY_ADDRESS = new Set(['0.0.0.0', '[::]']);

/** The URL for other machines: the address that stands for all of this one leads each of them to itself. */
function reachable(url: string, hostname: string): string {
  const { hostname: host } = new URL(url);
  return ANY_ADDRESS.has(host) ? url.replace(host, () => hostname) : url;
}

/** Agents are told the address of Redis, and one of loopback leads those on other machines to themselves. */
function redisLine(url: string, { redisUrl, agentRedisUrl = redisUrl }: Welcome['settings']): string {
  if (agentRedisUrl === undefined || isLoopbackUrl(url) || !isLoopbackUrl(agentRedisUrl)) return '';
  return '  agents on other machines need another address of Redis than that: --agent-redis URL';
}

function isLoopbackUrl(url: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(new URL(url).hostname);
}

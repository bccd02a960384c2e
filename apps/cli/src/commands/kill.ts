import { EXIT, formatCounted, type KillState, killRequestSchema } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { CLIENT_FLAGS, clientOf } from '../client/client-flags.js';
import { readFlags, refuseWords } from '../flags.js';
import { help } from '../help/kill.help.js';
import { writeOut } from '../output/streams.js';

export const FLAGS = {
  reason: { type: 'string' },
  release: { type: 'boolean' },
  status: { type: 'boolean' },
  ...CLIENT_FLAGS,
} as const;

/** `broadside kill`: the big red stop of a cluster. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('kill', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('kill', positionals);
  const { reason, release = false, status = false } = values;
  if (Number(reason !== undefined) + Number(release) + Number(status) > 1) {
    throw new CliError(EXIT.usage, 'kill: give one of --reason, --release and --status');
  }
  const request = killRequestSchema.safeParse(reason === undefined ? {} : { reason });
  if (!request.success) {
    throw new CliError(EXIT.usage, `--reason: ${request.error.issues[0]?.message ?? 'not valid'}`);
  }
  const client = await clientOf(values);
  if (status) await writeOut(stateText(await client.killState()));
  else if (release) await writeOut(stateText(await client.releaseKill()));
  else await writeOut(killedText(await client.kill(request.data)));
  return EXIT.ok;
}

function stateText({ isOn, reason, since }: KillState): string {
  return isOn
    ? `no load, and no run is taken in since ${since ?? 'earlier'}: ${reason ?? 'the kill switch is on'}\n`
    : 'the kill switch is off: runs are taken in\n';
}

function killedText({ endedRuns = 0 }: KillState): string {
  const runs = `${formatCounted(endedRuns, 'run')} ${endedRuns === 1 ? 'is' : 'are'} ended`;
  return `all load is stopped: ${runs}; no run is taken in until \`broadside kill --release\`\n`;
}

import { availableParallelism } from 'node:os';
import { EXIT, parseDurationMs } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import { readFlags, refuseWords, wholeNumberFlag } from '../flags.js';
import { help } from '../help/target.help.js';
import { writeOut } from '../output/streams.js';
import { StopSignals } from '../run/stop-signals.js';
import { startTrialTarget, type TrialTargetOptions } from '../target/trial-target.js';

export const FLAGS = {
  port: { type: 'string' },
  host: { type: 'string' },
  processes: { type: 'string' },
  size: { type: 'string' },
  delay: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const MAX_PROCESSES = 64;
const MAX_SIZE_BYTES = 100 * 1_048_576;
const MAX_DELAY_MS = 60_000;

/** `broadside target`: runs until a signal ends it. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('target', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('target', positionals);
  const options = targetOptions(values);
  const signals = new StopSignals();
  const target = await startTrialTarget(options);
  await writeOut(`${target.url}\n`);
  const stopped = new Promise<undefined>((resolve) => signals.onFirst(() => resolve(undefined)));
  const failure = await Promise.race([stopped, target.failed]);
  await target.close();
  signals.dispose();
  if (failure !== undefined) throw new CliError(EXIT.runFailed, failure);
  // To be stopped is the usual end of a server, so it is a success.
  return EXIT.ok;
}

function targetOptions(values: Partial<Record<keyof typeof FLAGS, string | boolean>>): TrialTargetOptions {
  const text = (name: keyof typeof FLAGS): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const delayText = text('delay') ?? '0';
  const delayMs = parseDurationMs(delayText);
  if (delayMs === undefined || delayMs > MAX_DELAY_MS) {
    throw new CliError(
      EXIT.usage,
      `--delay ${JSON.stringify(delayText)}: must be a time up to 60s, like 5ms`,
    );
  }
  const halfOfCores = Math.max(1, Math.floor(availableParallelism() / 2));
  return {
    host: text('host') ?? '127.0.0.1',
    port: wholeNumberFlag('--port', text('port'), { least: 0, most: 65_535 }) ?? 0,
    processes:
      wholeNumberFlag('--processes', text('processes'), { least: 1, most: MAX_PROCESSES }) ?? halfOfCores,
    sizeBytes: wholeNumberFlag('--size', text('size'), { least: 0, most: MAX_SIZE_BYTES }) ?? 100,
    delayMs,
  };
}

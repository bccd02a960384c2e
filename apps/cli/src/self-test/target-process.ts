import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EXIT } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import {
  type TargetAnswer,
  type TargetRecord,
  type TargetScript,
  targetAnswerSchema,
} from './target-script.js';

const ANSWER_TIMEOUT_MS = 15_000;

/** The self-test's target in a process of its own, so that it competes with the engine for nothing but the CPU. */
export class TargetProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /** @throws CliError when the process does not come up. */
  static async start(): Promise<TargetProcess> {
    const child = fork(fileURLToPath(new URL('./script-process.js', import.meta.url)), [], {
      execArgv: [],
      // stdout belongs to the command.
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'json',
    });
    try {
      const answer = await answerOf(child, 'listening');
      return new TargetProcess(child, `http://127.0.0.1:${answer.port}/`);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  /** Forgets what was, and follows this script from the next request on. */
  async begin(script: TargetScript): Promise<void> {
    const begun = answerOf(this.#child, 'begun');
    this.#child.send({ kind: 'begin', script });
    await begun;
  }

  /** What it has seen and done under its script. */
  async tell(): Promise<TargetRecord> {
    const told = answerOf(this.#child, 'record');
    this.#child.send({ kind: 'tell' });
    return (await told).record;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    // It ignores the signals of the terminal, and has nothing to lose.
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** The next message of the target, which must be of this kind. */
async function answerOf<Kind extends TargetAnswer['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<TargetAnswer, { kind: Kind }>> {
  const controller = new AbortController();
  const { signal } = controller;
  const timer = setTimeout(() => controller.abort(), ANSWER_TIMEOUT_MS);
  try {
    const [message]: unknown[] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(() => []),
    ]);
    const parsed = targetAnswerSchema.safeParse(message);
    if (parsed.success && parsed.data.kind === kind) {
      // The kind was compared in the line above, which the compiler does not follow through the type parameter.
      return parsed.data as Extract<TargetAnswer, { kind: Kind }>;
    }
    throw new CliError(EXIT.internal, `self-test: the target ended, or did not answer with "${kind}"`);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CliError(EXIT.internal, 'self-test: the target does not answer');
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

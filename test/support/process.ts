// Child processes for tests: output is captured within bounds, readiness is a line and not a pause,
// and whatever a test forgets to stop is stopped when the test process ends, however it ends.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

/** More output than this per stream drops the oldest part. */
const CAPTURE_LIMIT_CHARS = 4 * 1024 * 1024;
const DEFAULT_LINE_TIMEOUT_MS = 30_000;
const DEFAULT_STOP_TIMEOUT_MS = 15_000;

export interface ProcessOptions {
  readonly cwd?: string;
  /** Added to this process's environment; a variable set to undefined is removed. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Used instead of this process's environment, for tests of clean environments. */
  readonly bareEnv?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Signal that ends the program in an orderly way; SIGTERM unless told. */
  readonly stopSignal?: NodeJS.Signals;
}

export interface ProcessExit {
  /** null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessResult extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

interface LineWaiter {
  readonly pattern: RegExp;
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

const SETPRIV = '/usr/bin/setpriv';

/** One started program. Made by `startProcess`. */
export class RunningProcess {
  readonly pid: number;
  readonly stopSignal: NodeJS.Signals;
  /** Resolves when the program has ended and its output is complete. Never rejects. */
  readonly exit: Promise<ProcessExit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #command: string;
  readonly #waiters = new Set<LineWaiter>();
  #stdout = '';
  #stderr = '';
  #ended: ProcessExit | undefined;

  constructor(
    child: ChildProcessByStdio<Writable, Readable, Readable>,
    command: string,
    stopSignal: NodeJS.Signals,
  ) {
    if (child.pid === undefined) throw new Error(`could not start ${command}`);
    this.#child = child;
    this.#command = command;
    this.pid = child.pid;
    this.stopSignal = stopSignal;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout = (this.#stdout + text).slice(-CAPTURE_LIMIT_CHARS);
      this.#offerLines();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-CAPTURE_LIMIT_CHARS);
      this.#offerLines();
    });
    // A program may end without reading its input; what it did is judged by its exit code.
    child.stdin.on('error', () => undefined);
    this.exit = new Promise((resolve) => {
      child.once('close', (exitCode, signal) => {
        this.#ended = { exitCode, signal };
        this.#failWaiters();
        resolve(this.#ended);
      });
    });
  }

  stdout(): string {
    return this.#stdout;
  }

  stderr(): string {
    return this.#stderr;
  }

  hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Writes to the program's standard input and closes it. */
  endInput(text = ''): void {
    this.#child.stdin.end(text);
  }

  /**
   * The first whole line, of stdout or stderr, that matches; lines already printed count.
   * Rejects with the whole output when the program ends or `timeoutMs` passes first.
   */
  waitForLine(pattern: RegExp, timeoutMs: number = DEFAULT_LINE_TIMEOUT_MS): Promise<string> {
    const seen = this.#findLine(pattern);
    if (seen !== undefined) return Promise.resolve(seen);
    if (this.#ended !== undefined) return Promise.reject(this.#failure(`ended without a line ${pattern}`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => waiter.reject(this.#failure(`no line ${pattern} in ${timeoutMs} ms`)),
        timeoutMs,
      );
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: LineWaiter = {
        pattern,
        resolve: (line) => {
          settle();
          resolve(line);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      this.#waiters.add(waiter);
    });
  }

  /** Sends a signal to exactly this process; nothing happens when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.#ended === undefined) this.#child.kill(signal);
  }

  /** Orderly stop; SIGKILL when that takes longer than `timeoutMs`. */
  async stop(timeoutMs: number = DEFAULT_STOP_TIMEOUT_MS): Promise<ProcessExit> {
    this.signal(this.stopSignal);
    const timer = setTimeout(() => this.signal('SIGKILL'), timeoutMs);
    const ended = await this.exit;
    clearTimeout(timer);
    return ended;
  }

  /** SIGKILL, as a crash. */
  async kill(): Promise<ProcessExit> {
    this.signal('SIGKILL');
    return this.exit;
  }

  #findLine(pattern: RegExp): string | undefined {
    for (const text of [this.#stdout, this.#stderr]) {
      const lines = text.split('\n');
      if (this.#ended === undefined) lines.pop(); // The last piece is not a whole line yet.
      const line = lines.find((candidate) => candidate.search(pattern) >= 0);
      if (line !== undefined) return line;
    }
    return undefined;
  }

  #offerLines(): void {
    for (const waiter of this.#waiters) {
      const line = this.#findLine(waiter.pattern);
      if (line !== undefined) waiter.resolve(line);
    }
  }

  #failWaiters(): void {
    this.#offerLines();
    for (const waiter of this.#waiters) {
      waiter.reject(this.#failure(`ended without a line ${waiter.pattern}`));
    }
  }

  #failure(what: string): Error {
    const how = this.#ended === undefined ? 'still running' : `exit ${describeExit(this.#ended)}`;
    return new Error(
      `${this.#command}: ${what} (${how})\n--- stdout\n${this.#stdout}\n--- stderr\n${this.#stderr}`,
    );
  }
}

/** Starts a program and rejects when it cannot be started at all. */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: ProcessOptions = {},
): Promise<RunningProcess> {
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const child = spawn(...dyingWithUs(command, args, stopSignal), {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: options.bareEnv ?? { ...process.env, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  // Listen for output before waiting, or the first lines of a quick program would be lost.
  const started = child.pid === undefined ? undefined : new RunningProcess(child, command, stopSignal);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  if (started === undefined) throw new Error(`could not start ${command}`);
  return started;
}

/**
 * The test runner ends its processes without a word to them, so on Linux the kernel is asked to pass it on:
 * the program gets `signal` when this process dies, in whatever way. It keeps its process id.
 */
function dyingWithUs(
  command: string,
  args: readonly string[],
  signal: NodeJS.Signals,
): [command: string, args: readonly string[]] {
  // A program that does not exist is best reported by spawn itself.
  if (!existsSync(command) || !existsSync(SETPRIV)) return [command, args];
  return [SETPRIV, ['--pdeathsig', signal.slice('SIG'.length), '--', command, ...args]];
}

export interface RunOptions extends ProcessOptions {
  readonly input?: string;
  /** The program is killed and the call rejects after this time; 60 s unless told. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end and hands back everything it printed, whatever its exit code. */
export async function runProcess(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<ProcessResult> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const startMs = performance.now();
  const child = await startProcess(command, args, options);
  child.endInput(options.input);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.signal('SIGKILL');
  }, timeoutMs);
  const ended = await child.exit;
  clearTimeout(timer);
  const result = {
    ...ended,
    stdout: child.stdout(),
    stderr: child.stderr(),
    durationMs: performance.now() - startMs,
  };
  if (isLate) throw new Error(`${command} did not end in ${timeoutMs} ms\n${describeOutput(result)}`);
  return result;
}

/** Throws, with everything the program printed, unless it ended with this exit code. */
export function assertExitCode(result: ProcessResult, expected: number): void {
  if (result.exitCode === expected) return;
  throw new Error(`exit ${describeExit(result)} instead of ${expected}\n${describeOutput(result)}`);
}

function describeExit(ended: ProcessExit): string {
  return ended.signal ?? String(ended.exitCode);
}

function describeOutput(result: ProcessResult): string {
  return `--- stdout\n${result.stdout}\n--- stderr\n${result.stderr}`;
}

import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { EXIT, formatTarget } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import type { TrialServerOptions } from './trial-server.js';

export interface TrialTargetOptions extends TrialServerOptions {
  readonly processes: number;
}

/** A running target: several processes behind one address. */
export interface TrialTarget {
  readonly url: string;
  /** Resolves when a process of the target has ended without being asked to. */
  readonly failed: Promise<string>;
  readonly close: () => Promise<void>;
}

const START_TIMEOUT_MS = 10_000;

/**
 * Starts a target. Its processes end with this one, however it ends.
 * @throws CliError with EXIT.cluster when the address cannot be listened on.
 */
export async function startTrialTarget(options: TrialTargetOptions): Promise<TrialTarget> {
  await assertFree(options);
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('./trial-process.js', import.meta.url)),
    args: [JSON.stringify(options)],
    execArgv: [],
    // stdout belongs to the command that started the target.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'json',
  });
  const members = Array.from({ length: options.processes }, () => cluster.fork());
  const close = () => closeAll(members);
  try {
    const ports = await Promise.all(members.map(listeningPort));
    const failed = Promise.race(members.map(unexpectedEnd));
    const url = formatTarget({
      scheme: 'http',
      host: options.host,
      port: ports[0] ?? options.port,
      path: '/',
    });
    return { url, failed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Listens once in this process, because a member could only say that it has failed, not to whom and why. */
async function assertFree(options: TrialTargetOptions): Promise<void> {
  const probe = createServer();
  try {
    probe.listen(options.port, options.host);
    await once(probe, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const reasons: Record<string, string> = {
      EADDRINUSE: 'another program listens there',
      EACCES: 'this user may not use that port',
      EADDRNOTAVAIL: 'this machine has no such address',
      ENOTFOUND: 'this machine has no such address',
    };
    throw new CliError(
      EXIT.cluster,
      `cannot listen on ${options.host}:${options.port}: ${reasons[code] ?? code}; choose another port or host`,
      error,
    );
  }
  probe.close();
  await once(probe, 'close');
}

async function listeningPort(member: Worker): Promise<number> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), START_TIMEOUT_MS);
  const ended = once(member, 'exit', { signal: controller.signal }).then(() => {
    throw new CliError(EXIT.internal, 'target: a process ended before it was listening');
  });
  try {
    const listening: unknown[] = await Promise.race([
      once(member, 'listening', { signal: controller.signal }),
      ended,
    ]);
    const [address] = listening;
    const hasPort = typeof address === 'object' && address !== null && 'port' in address;
    return hasPort ? Number(address.port) : 0;
  } finally {
    clearTimeout(timer);
    ended.catch(() => undefined);
    controller.abort();
  }
}

async function unexpectedEnd(member: Worker): Promise<string> {
  await once(member, 'exit');
  return `process ${member.process.pid ?? 0} of the target has ended`;
}

async function closeAll(members: readonly Worker[]): Promise<void> {
  await Promise.all(
    members.map(async (member) => {
      if (member.isDead()) return;
      const ended = once(member, 'exit');
      // The members ignore the signals of the terminal, and have nothing to lose.
      member.process.kill('SIGKILL');
      await ended;
    }),
  );
}

// A real PostgreSQL server on a free loopback port, made by initdb in a temporary folder.

import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFreePort } from './free-port.js';
import { assertExitCode, type RunningProcess, runProcess, startProcess } from './process.js';
import { programPath } from './programs.js';

interface Account {
  readonly uid: number;
  readonly gid: number;
}

interface Installation {
  readonly folder: string;
  /** Undefined when this process is not root and simply runs the server itself. */
  readonly account: Account | undefined;
}

/** One PostgreSQL server with an empty database `postgres`. `stop()` it in afterAll. */
export class PostgresServer {
  readonly port: number;
  readonly url: string;
  readonly #installation: Installation;
  #process: RunningProcess;

  private constructor(port: number, installation: Installation, started: RunningProcess) {
    this.port = port;
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    this.#installation = installation;
    this.#process = started;
  }

  /** Takes one to three seconds, mostly initdb. */
  static async start(): Promise<PostgresServer> {
    const installation = await install();
    try {
      return await withFreePort(
        async (port) => new PostgresServer(port, installation, await launch(port, installation)),
      );
    } catch (error) {
      await rm(installation.folder, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Immediate shutdown (SIGQUIT): what was committed is recovered from the log at the next start. */
  async crash(): Promise<void> {
    this.#process.signal('SIGQUIT');
    await this.#process.exit;
  }

  /** Starts again on the same port with the same files, after `crash`. */
  async restart(): Promise<void> {
    if (!this.#process.hasEnded()) throw new Error('postgres still runs; crash it first');
    this.#process = await launch(this.port, this.#installation);
  }

  /** Runs one statement with psql and returns its rows, one line each, columns parted by `|`. */
  async query(statement: string): Promise<string> {
    const args = ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-c', statement, this.url];
    const result = await runProcess(programPath('psql'), args);
    assertExitCode(result, 0);
    return result.stdout.trimEnd();
  }

  async stop(): Promise<void> {
    await this.#process.stop();
    await rm(this.#installation.folder, { recursive: true, force: true });
  }
}

async function install(): Promise<Installation> {
  const account = process.getuid?.() === 0 ? await accountOf('postgres') : undefined;
  const folder = await mkdtemp(join(tmpdir(), 'broadside-postgres-'));
  try {
    // PostgreSQL refuses to run as root, so root lends the folder to the account Debian made for it.
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    const args = ['--pgdata', join(folder, 'data'), '--username=postgres', '--auth=trust', '--no-sync'];
    args.push('--encoding=UTF8', '--locale=C', '--no-instructions');
    const result = await runProcess(programPath('initdb'), args, { ...account, cwd: folder });
    assertExitCode(result, 0);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return { folder, account };
}

async function launch(port: number, { folder, account }: Installation): Promise<RunningProcess> {
  const args = ['-D', join(folder, 'data'), '-h', '127.0.0.1', '-p', String(port), '-k', folder];
  // Nothing here outlives the test, so speed matters more than surviving a power cut.
  args.push('-c', 'fsync=off', '-c', 'logging_collector=off', '-c', 'lc_messages=C');
  // SIGINT is PostgreSQL's fast shutdown: it does not wait for clients that stay connected.
  const started = await startProcess(programPath('postgres'), args, {
    ...account,
    cwd: folder,
    stopSignal: 'SIGINT',
  });
  try {
    await started.waitForLine(/database system is ready to accept connections/);
  } catch (error) {
    await started.stop();
    throw error;
  }
  return started;
}

async function accountOf(name: string): Promise<Account> {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((row) => row.startsWith(`${name}:`));
  const [, , uid, gid] = (line ?? '').split(':');
  if (uid === undefined || gid === undefined) throw new Error(`there is no account ${name} on this machine`);
  return { uid: Number(uid), gid: Number(gid) };
}

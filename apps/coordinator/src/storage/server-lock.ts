/**
 * Keeps every other coordinator out of a database: two would carry out the same runs. A lock of a session of its own,
 * which Postgres takes back when that ends, however the process did.
 */
import pg from 'pg';
import { StoreError } from './store-error.js';
import { isPassing } from './store-patience.js';

/** `broadside` for `pg_advisory_lock`: two numbers that nobody else in the database may use. */
export const LOCK_KEYS = [0x62_72_6f_61, 0x64_73_69_64] as const;
/** A coordinator that was killed is gone at once; one whose host vanished when its connection was asked in vain. */
const WAIT_MS = 20_000;
const RETRY_MS = 500;
/** Asked after 5 s of silence, three times: some 11 s until the server knows that a host has vanished. */
const SESSION = `select set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false)`;

type Answer = 'taken' | 'refused' | 'away';

export class ServerLock {
  readonly #config: pg.PoolConfig;
  readonly #where: string;
  readonly #waitMs: number;
  #client: pg.Client | undefined;
  #isReleased = false;
  #isTakenAway = false;

  private constructor(config: pg.PoolConfig, where: string, waitMs: number) {
    this.#config = { ...config, application_name: 'broadside coordinator' };
    this.#where = where;
    this.#waitMs = waitMs;
  }

  /** @throws StoreError when another coordinator still has it after `waitMs`, or the server does not answer. */
  static async take(config: pg.PoolConfig, where: string, waitMs = WAIT_MS): Promise<ServerLock> {
    const lock = new ServerLock(config, where, waitMs);
    const answer = await lock.#seek((last) => last !== 'taken');
    if (answer === 'taken') return lock;
    throw new StoreError(
      answer === 'refused'
        ? `the database at ${where} is in use by another coordinator; stop it, or choose another database`
        : `the database at ${where} does not answer any more; try again`,
    );
  }

  /** Why the database is no longer ours; undefined while it is. */
  whyGone(): string | undefined {
    return this.#isTakenAway ? `another coordinator uses the database at ${this.#where} now` : undefined;
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#client?.end().catch(() => undefined); // The server may have ended it already, which is as good.
  }

  /**
   * Tries until it has the lock.
   * @param isFailure an answer that does not count for ever: after a while of these the last of them is returned.
   */
  async #seek(isFailure: (answer: Answer) => boolean): Promise<Answer> {
    let failingSinceMs: number | undefined;
    for (;;) {
      const answer = await this.#tryOnce();
      if (answer === 'taken' || this.#isReleased) return answer;
      const nowMs = performance.now();
      failingSinceMs = isFailure(answer) ? (failingSinceMs ?? nowMs) : undefined;
      if (failingSinceMs !== undefined && nowMs - failingSinceMs > this.#waitMs) return answer;
      await new Promise((resolve) => {
        setTimeout(resolve, RETRY_MS);
      });
    }
  }

  async #tryOnce(): Promise<Answer> {
    const client = new pg.Client(this.#config);
    // Whatever breaks it, `end` follows.
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(SESSION);
      const { rows } = await client.query<{ taken: boolean }>(
        'select pg_try_advisory_lock($1, $2) as taken',
        [...LOCK_KEYS],
      );
      if (rows[0]?.taken === true && !this.#isReleased) {
        client.once('end', () => void this.#regain());
        this.#client = client;
        return 'taken';
      }
      await client.end();
      return 'refused';
    } catch (error) {
      client.end().catch(() => undefined);
      // Once it was ours, whoever uses the database tells what is wrong with it.
      if (this.#client === undefined && !isPassing(error)) throw error;
      return 'away';
    }
  }

  /** Our session ended: the server restarts, or the network broke and the server will notice. */
  async #regain(): Promise<void> {
    if (this.#isReleased) return;
    // While the server is away nobody has the lock.
    const answer = await this.#seek((last) => last === 'refused');
    this.#isTakenAway = answer === 'refused' && !this.#isReleased;
  }
}

/**
 * Keeps every other coordinator out of a database: two would carry out the same runs. A lock of a session of its own,
 * which Postgres takes back when that ends, however the process did.
 */
import pg from 'pg';
import { StoreError } from './store-error.js';
import { isPassing } from './store-patience.js';
import { within } from './within.js';

/** `broadside` for `pg_advisory_lock`: two numbers that nobody else in the database may use. */
const LOCK_KEYS = [0x62_72_6f_61, 0x64_73_69_64] as const;
/** A coordinator that was killed is gone at once; one whose host vanished when its connection was asked in vain. */
const WAIT_MS = 20_000;
const RETRY_MS = 500;
/** How often our session is asked whether it is still there, and how long any answer may take. */
const ASK_EVERY_MS = 3_000;
const ANSWER_MS = 5_000;
/** Asked after 5 s of silence, three times: some 11 s until the server knows that a host has vanished. */
const SESSION = `select set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '2', false), set_config('tcp_keepalives_count', '3', false),
  pg_backend_pid() as pid`;
const HOLDER = `select pid from pg_locks where locktype = 'advisory' and granted and classid = $1 and objid = $2
  and database = (select oid from pg_database where datname = current_database())`;

type Answer = 'taken' | 'refused' | 'away';

export class ServerLock {
  readonly #config: pg.PoolConfig;
  readonly #where: string;
  #client: pg.Client | undefined;
  /** Of our newest session that had the lock: the server may not have noticed its end. */
  #pid: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;
  #isTakenAway = false;

  private constructor(config: pg.PoolConfig, where: string) {
    this.#config = { ...config, application_name: 'broadside coordinator', query_timeout: ANSWER_MS };
    this.#where = where;
  }

  /** @throws StoreError when another coordinator still has it after `waitMs`, or the server does not answer. */
  static async take(config: pg.PoolConfig, where: string, waitMs = WAIT_MS): Promise<ServerLock> {
    const lock = new ServerLock(config, where);
    const untilMs = performance.now() + waitMs;
    const answer = await lock.#seek(() => performance.now() > untilMs);
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
    clearInterval(this.#timer);
    // The server may have ended it already, which is as good.
    const ended = this.#client?.end().catch(() => undefined);
    if (ended !== undefined) await within(ANSWER_MS, ended);
  }

  /** Tries until it has the lock, or an answer is the last word. */
  async #seek(isLast: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await this.#tryOnce();
      if (answer === 'taken' || this.#isReleased || isLast(answer)) return answer;
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
      const session = await client.query<{ pid: number }>(SESSION);
      const { rows } = await client.query<{ taken: boolean }>(
        'select pg_try_advisory_lock($1, $2) as taken',
        [...LOCK_KEYS],
      );
      if (rows[0]?.taken === true && !this.#isReleased) {
        this.#keep(client, session.rows[0]?.pid);
        return 'taken';
      }
      const holder = await client.query<{ pid: number }>(HOLDER, [...LOCK_KEYS]);
      await client.end();
      const isOurs = this.#pid !== undefined && holder.rows[0]?.pid === this.#pid;
      return isOurs || holder.rows.length === 0 ? 'away' : 'refused';
    } catch (error) {
      client.end().catch(() => undefined);
      // Once it was ours, whoever uses the database tells what is wrong with it.
      if (this.#pid === undefined && !isPassing(error)) throw error;
      return 'away';
    }
  }

  #keep(client: pg.Client, pid: number | undefined): void {
    this.#client = client;
    this.#pid = pid;
    client.once('end', () => this.#lose(client));
    // A way that vanished says nothing by itself.
    this.#timer = setInterval(() => {
      client.query('select 1').catch(() => this.#lose(client));
    }, ASK_EVERY_MS);
  }

  /** Our session ended: the server restarts, or the network broke and the server will notice. */
  #lose(client: pg.Client): void {
    if (this.#client !== client || this.#isReleased) return;
    this.#client = undefined;
    clearInterval(this.#timer);
    client.end().catch(() => undefined);
    // While the server is away, or still takes our old session for alive, nobody else has the lock.
    void this.#seek((answer) => answer === 'refused').then((answer) => {
      this.#isTakenAway = answer === 'refused' && !this.#isReleased;
    });
  }
}

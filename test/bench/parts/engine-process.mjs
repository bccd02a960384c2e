// The engine in a process of its own on the generator's core: it carries out one shard after the other as an
// agent's thread does.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { shardFor } from '../../../libs/engine/dist/testing/run-shard-against.js';
import { GENERATOR_CORE, pinned } from './programs.mjs';

/**
 * @typedef {import('../../../libs/engine/dist/transport/transport.js').TransportName} TransportName
 * @typedef {import('../../../libs/engine/dist/testing/shard-thread.js').ShardOutcome} ShardOutcome
 * @typedef {import('../../../libs/engine/dist/testing/shard-thread.js').ShardReport} ShardReport
 * @typedef {import('../../../libs/engine/dist/testing/run-shard-against.js').ShardOverrides} ShardOverrides
 */

export class EngineProcess {
  /** @type {import('node:child_process').ChildProcess} */
  #child;
  /** @type {Promise<unknown>} */
  #gone;
  /** @type {TransportName} */
  #transport;

  /**
   * @param {TransportName} transport
   * @param {string} [checkout] folder of another built checkout whose engine is to be used, with a slash at its end
   */
  constructor(transport, checkout = new URL('../../..', import.meta.url).pathname) {
    const entry = new URL('libs/engine/dist/testing/shard-thread.js', `file://${checkout}`).pathname;
    const [file, args] = pinned(GENERATOR_CORE, [process.execPath, entry]);
    this.#child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#gone = once(this.#child, 'exit');
    this.#transport = transport;
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * @param {number} port
   * @param {ShardOverrides} overrides
   * @returns {Promise<ShardOutcome | undefined>} undefined when the transport does not work here
   */
  async run(port, overrides) {
    const target = { path: '/100.html' };
    const headerLines = [`Host: 127.0.0.1:${port}`];
    const shard = shardFor(port, { target, request: { headerLines }, ...overrides });
    this.#child.send({ shard, transport: this.#transport });
    const [report] = /** @type {[ShardReport]} */ (await once(this.#child, 'message'));
    if (report.ok) {
      const failures = JSON.stringify(report.outcome.failures);
      if (failures !== '{}') throw new Error(`${this.#transport}: requests failed: ${failures}`);
      return report.outcome;
    }
    if (report.message.includes('not used')) return undefined;
    throw new Error(report.message);
  }

  /** Largest resident memory so far, in KiB: VmHWM of proc_pid_status(5). */
  peakKib() {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]);
  }

  async end() {
    this.#child.disconnect();
    await this.#gone;
  }
}

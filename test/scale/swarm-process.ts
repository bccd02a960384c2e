// One swarm of simulated agents in a process of its own, so that its CPU is not the coordinator's.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SwarmOrder, SwarmResult } from './swarm.mjs';

const SWARM = fileURLToPath(new URL('./swarm.mjs', import.meta.url));

interface SwarmPlace {
  /** The core it is to stay on; undefined: any. */
  readonly cpu: number | undefined;
  /** Folder for its CPU profile. */
  readonly profileDir: string | undefined;
}

export class SwarmProcess {
  readonly #child: ChildProcess;
  /** Rejects when the swarm ends before it is told to. */
  readonly ended: Promise<never>;
  #isLeaving = false;

  constructor({ cpu, profileDir }: SwarmPlace) {
    const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
    const command = cpu === undefined ? process.execPath : 'taskset';
    const args = [...(cpu === undefined ? [] : ['-c', String(cpu), process.execPath]), ...profile, SWARM];
    this.#child = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
    this.ended = new Promise((_resolve, reject) => {
      this.#child.once('exit', (code) => {
        if (!this.#isLeaving) reject(new Error(`a swarm ended with code ${code}`));
      });
    });
    // Whoever waits for anything of a swarm waits for this too.
    this.ended.catch(() => undefined);
  }

  /** Resolves when all agents have joined. */
  async join(order: SwarmOrder): Promise<void> {
    await this.#ask({ kind: 'join', order }, 'joined');
  }

  /** Resolves when all their frames are acknowledged. */
  async settle(): Promise<SwarmResult> {
    return (await this.#ask({ kind: 'settle' }, 'settled')).result;
  }

  async leave(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#isLeaving = true;
    this.#child.send({ kind: 'leave' });
    await once(this.#child, 'exit');
  }

  #ask(message: object, answer: string): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => {
      // Sent by swarm.mjs alone, of exactly this type.
      const onMessage = (reply: unknown): void => {
        const { kind } = reply as Answer;
        if (kind !== answer) return;
        this.#child.off('message', onMessage);
        resolve(reply as Answer);
      };
      this.#child.on('message', onMessage);
      this.#child.send(message);
    });
    return Promise.race([answered, this.ended]);
  }
}

interface Answer {
  readonly kind: string;
  readonly result: SwarmResult;
}

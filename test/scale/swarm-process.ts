// One swarm of simulated agents in a process of its own, so that its CPU is not the coordinator's.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SwarmOrder, SwarmResult } from './swarm.mjs';

const SWARM = fileURLToPath(new URL('./swarm.mjs', import.meta.url));

export class SwarmProcess {
  readonly #child: ChildProcess;

  /** @param cpu the core it is to stay on; absent: any. */
  constructor(cpu?: number) {
    const command = cpu === undefined ? process.execPath : 'taskset';
    const args = cpu === undefined ? [SWARM] : ['-c', String(cpu), process.execPath, SWARM];
    this.#child = spawn(command, args, {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
    });
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
    this.#child.send({ kind: 'leave' });
    await once(this.#child, 'exit');
  }

  #ask(message: object, answer: string): Promise<{ readonly kind: string; readonly result: SwarmResult }> {
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`a swarm ended with code ${code}`));
      this.#child.once('exit', onExit);
      // Sent by swarm.mjs alone, of exactly this type.
      const onMessage = (reply: unknown): void => {
        const { kind } = reply as { readonly kind: string };
        if (kind !== answer) return;
        this.#child.off('message', onMessage);
        this.#child.off('exit', onExit);
        resolve(reply as { readonly kind: string; readonly result: SwarmResult });
      };
      this.#child.on('message', onMessage);
      this.#child.send(message);
    });
  }
}

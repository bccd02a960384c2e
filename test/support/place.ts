// Where a program of a test runs: on this machine's loopback, or in a network namespace with an address of its own
// (test/cluster).

import { type ProcessOptions, type RunningProcess, startProcess } from './process.js';

export interface Place {
  /** The IPv4 address at which others reach what listens here. */
  readonly address: string;
  start(command: string, args: readonly string[], options?: ProcessOptions): Promise<RunningProcess>;
}

export const LOOPBACK: Place = { address: '127.0.0.1', start: startProcess };

// Shards of the real engine over a named transport, in a thread or process of their own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ShardOrder, ShardOutcome, ShardReport } from '../../libs/engine/dist/testing/shard-thread.js';

const ENTRY = new URL('../../libs/engine/dist/testing/shard-thread.js', import.meta.url);

function outcomeOf(report: ShardReport): ShardOutcome {
  if (!report.ok) throw new Error(report.message);
  return report.outcome;
}

/** Runs the shard in a thread. @throws when the engine failed or its books do not balance. */
export async function runInThread(order: ShardOrder): Promise<ShardOutcome> {
  const thread = new Worker(ENTRY);
  try {
    thread.postMessage(order);
    const [report] = (await once(thread, 'message')) as [ShardReport];
    return outcomeOf(report);
  } finally {
    await thread.terminate();
  }
}

/** Runs the shards one after the other in a process that may have so many descriptors. */
export async function runInProcess(
  orders: readonly ShardOrder[],
  maxDescriptors: number,
): Promise<ShardOutcome[]> {
  const script = `ulimit -n ${maxDescriptors} && exec "$0" "$1"`;
  const child: ChildProcess = spawn('sh', ['-c', script, process.execPath, fileURLToPath(ENTRY)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the engine's process ended with code ${code}`);
  });
  exited.catch(() => undefined);
  try {
    const outcomes: ShardOutcome[] = [];
    for (const order of orders) {
      child.send(order);
      const [report] = (await Promise.race([once(child, 'message'), exited])) as [ShardReport];
      outcomes.push(outcomeOf(report));
    }
    return outcomes;
  } finally {
    if (child.connected) child.disconnect();
    await exited.catch(() => undefined);
  }
}

/** Entry of an engine thread: takes one shard after the other from its slot and runs the engine on it. */

import { parentPort, type TransferListItem, workerData } from 'node:worker_threads';
import { chooseTransport, runShard, ShardControl, type ShardEnd, type ShardRun } from '@broadside/engine';
import {
  encodeInterval,
  encodeTotals,
  type Fatal,
  refusalOf,
  targetPolicyOf,
} from '@broadside/shared/engine';
import { shardResultOf } from './shard-result.js';
import type { SlotMessage, ThreadMessage, ThreadSettings } from './thread-message.js';

if (parentPort === null) throw new Error('engine-thread is the entry of a thread');
const port = parentPort;
// Given by the slot (slot.ts) under this type.
const settings = workerData as ThreadSettings;
// Chosen once per thread: this thread has nothing else to do, so a transport that blocks it is welcome.
const transport = await chooseTransport(settings.transport);
let run: ShardRun | undefined;

type RunMessage = Extract<SlotMessage, { kind: 'run' }>;

function tell(message: ThreadMessage, moved: readonly TransferListItem[] = []): void {
  port.postMessage(message, moved);
}

async function carryOut({ shard, policies, control }: RunMessage): Promise<void> {
  const checked = {
    coordinator: targetPolicyOf(policies.coordinator),
    agent: targetPolicyOf(policies.agent),
  };
  let end: ShardEnd | undefined;
  let refusal: Fatal | undefined;
  run = runShard({
    shard,
    control: new ShardControl(control),
    refusalOf: (place) => refusalOf(checked, place),
    openTransport: (given) => transport.open(given),
    sink: {
      onReady: () => tell({ kind: 'ready' }),
      onRefused: (fatal) => {
        refusal = fatal;
      },
      onProbed: (result) => tell({ kind: 'probed', result }),
      onInterval: (interval) => {
        const bytes = encodeInterval(interval);
        const { number, span, isWarmup = false } = interval;
        tell({ kind: 'interval', frame: { number, span, isWarmup, bytes } }, [bytes.buffer]);
      },
      onEnded: (ended) => {
        end = ended;
      },
    },
  });
  await run.ended;
  run = undefined;
  // Told only now, when the sockets are closed too: the slot gives out the next shard at once.
  if (refusal !== undefined) tell({ kind: 'refused', fatal: refusal });
  else if (end !== undefined)
    tell({ kind: 'ended', result: shardResultOf(end, encodeTotals(end.totals), transport.note) });
  else throw new Error('the engine ended without saying how');
}

port.on('message', (message: SlotMessage) => {
  if (message.kind === 'wake') {
    run?.wake();
    return;
  }
  carryOut(message).catch((error: unknown) => {
    tell({
      kind: 'failed',
      message: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  });
});
tell({ kind: 'up', ...(transport.note === undefined ? {} : { note: transport.note }) });

import { BROADSIDE_VERSION, EXIT, type ExitCode } from '@broadside/shared';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { closeWithin } from '../cluster/closing.js';
import { readFlags, refuseWords } from '../flags.js';
import { help } from '../help/self-test.help.js';
import { selfTestText } from '../output/self-test-text.js';
import { writeNote, writeOut } from '../output/streams.js';
import { exitCodeOfSignal, StopSignals } from '../run/stop-signals.js';
import { type Outcome, outcomeOf } from '../self-test/finding.js';
import { runSelfTest, type SelfTestResult } from '../self-test/run-self-test.js';
import { scenariosOf } from '../self-test/scenarios.js';
import { TargetProcess } from '../self-test/target-process.js';
import { type TransportWish, transportFlag } from '../transport-flag.js';

export const FLAGS = {
  short: { type: 'boolean' },
  transport: { type: 'string' },
  json: { type: 'boolean' },
  quiet: { type: 'boolean', short: 'q' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** What the scenarios want of the embedded cluster. */
const CLUSTER = { slots: 2, connections: 2 };
/** Runs of one scenario while its times are unclear; the short form is short. */
const ATTEMPTS = 3;

const EXIT_OF: Readonly<Record<Outcome, ExitCode>> = {
  ok: EXIT.ok,
  wrong: EXIT.verdictFail,
  unclear: EXIT.inconclusive,
};

/** `broadside self-test`: real runs through an embedded cluster against a target that knows what it does. */
export async function execute(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags('self-test', words, FLAGS);
  if (values.help === true) {
    await writeOut(help);
    return EXIT.ok;
  }
  refuseWords('self-test', positionals);
  const transport = transportFlag(values.transport);
  const signals = new StopSignals();
  try {
    const say = values.quiet === true ? () => undefined : writeNote;
    const result = await testThisMachine({ isShort: values.short === true, transport, signals, say });
    const isJson = values.json === true;
    await writeOut(isJson ? `${JSON.stringify(jsonOf(result), null, 2)}\n` : selfTestText(result));
    return signals.received === undefined
      ? EXIT_OF[outcomeOf(result.findings)]
      : exitCodeOfSignal(signals.received);
  } finally {
    signals.dispose();
  }
}

interface Wanted {
  readonly isShort: boolean;
  readonly transport: TransportWish | undefined;
  readonly signals: StopSignals;
  readonly say: (line: string) => void;
}

async function testThisMachine({ isShort, transport, signals, say }: Wanted): Promise<SelfTestResult> {
  const target = await TargetProcess.start();
  try {
    // Never at a coordinator elsewhere, whatever the environment says: it is this machine that is tested.
    const open = chooseCluster({ plan: CLUSTER, transport, onSlowStart: () => undefined });
    const cluster = await open();
    try {
      const scenarios = scenariosOf(isShort);
      const attempts = isShort ? 1 : ATTEMPTS;
      return await runSelfTest({ scenarios, attempts, cluster, target, signals, onNotice: say });
    } finally {
      await cluster.close();
    }
  } finally {
    await closeWithin([() => target.close()]);
  }
}

function jsonOf({ findings, ...more }: SelfTestResult): object {
  return {
    format: 'broadside-self-test',
    broadsideVersion: BROADSIDE_VERSION,
    outcome: outcomeOf(findings),
    ...more,
    findings,
  };
}

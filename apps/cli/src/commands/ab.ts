import { abBanner, abHtmlBanner, EXIT } from '@broadside/shared';
import { AB_EXIT, type AbOptions, GRAMMAR as FLAGS, parseAbCommandLine } from '../ab/ab-options.js';
import { AbOutput } from '../ab/ab-output.js';
import { abRequestText, prepareAbPlan } from '../ab/prepare-ab-plan.js';
import { chooseCluster } from '../cluster/choose-cluster.js';
import { help } from '../help/ab.help.js';
import { openJsonDestination } from '../output/json-file.js';
import { writeNote, writeOut } from '../output/streams.js';
import { fireRun } from '../run/fire-run.js';
import { StopSignals } from '../run/stop-signals.js';

export { FLAGS };

/** `broadside ab`: the options, the text and the exit codes of `ab`. */
export async function execute(words: readonly string[]): Promise<number> {
  const commandLine = parseAbCommandLine(words);
  switch (commandLine.kind) {
    case 'help':
      await writeOut(help);
      return EXIT.ok;
    case 'version':
      await writeOut(commandLine.isHtml ? abHtmlBanner() : abBanner());
      return EXIT.ok;
    case 'mistake':
      process.stderr.write(mistakeText(commandLine.text, commandLine.exitCode));
      return commandLine.exitCode;
    case 'run':
      return await executeOptions(commandLine.options);
  }
}

/** `-h` prints everything; a mistake says where everything is, because a page of options would bury the reason. */
function mistakeText(text: string, exitCode: number): string {
  if (text === '') return help;
  const usage =
    'Usage: broadside ab [options] [http://]host[:port]/path (`broadside ab -h` lists the options)\n';
  return `${text}\n${exitCode === AB_EXIT.usage ? usage : ''}`;
}

async function executeOptions(options: AbOptions): Promise<number> {
  const json = options.jsonFile === undefined ? undefined : await openJsonDestination(options.jsonFile);
  const csv = options.csvFile === undefined ? undefined : await openJsonDestination(options.csvFile);
  const samples =
    options.samplesFile === undefined ? undefined : await openJsonDestination(options.samplesFile);
  const prepared = await prepareAbPlan(options);
  if (!prepared.ok) {
    process.stderr.write(`${prepared.text}\n`);
    return prepared.exitCode;
  }
  const { plan } = prepared;
  const openCluster = chooseCluster({
    remote: {
      flag: '--agents-at',
      url: options.coordinatorUrl,
      token: options.token,
      tokenFile: options.tokenFile,
      caFile: options.caFile,
    },
    plan,
    transport: options.transport,
    onSlowStart: () => process.stderr.isTTY && writeNote('starting…'),
  });
  for (const note of options.notes) writeNote(note);
  const out = new AbOutput(options, { json, csv, samples });
  // `ab` ends with 1 when it is interrupted, and is killed by SIGTERM.
  const signals = new StopSignals((signal) => (signal === 'SIGINT' ? 1 : EXIT.terminated));
  try {
    await out.begin(abRequestText(plan));
    const report = await fireRun({
      plan,
      openCluster,
      signals,
      onMessage: (message) => out.progress(message),
      onNotice: writeNote,
    });
    const exitCode = await out.end(report, signals.received !== undefined);
    return signals.received === 'SIGTERM' ? EXIT.terminated : exitCode;
  } catch (error) {
    // The line of `Benchmarking …` may still be open on the terminal.
    out.breakLine();
    throw error;
  } finally {
    signals.dispose();
  }
}

import type { Examination } from '@broadside/agent';
import { BROADSIDE_VERSION, environmentRows, labelled, printable, wrapped } from '@broadside/shared';

/**
 * What `broadside doctor` prints: the environment block, then the findings, the worst first.
 * @param width columns that sentences are broken at.
 * @param subject the load that was looked at, in words; absent when it was the machine alone.
 */
export function doctorText(
  { machine, findings, transport }: Examination,
  width: number,
  subject?: string,
): string {
  const hanging = (label: string, text: string): string[] =>
    labelled(label, [text], { labelWidth: label.length, width });
  const transportText =
    transport.note === undefined ? transport.name : `${transport.name} (${transport.note})`;
  const rows = environmentRows(machine, { broadside: BROADSIDE_VERSION, transport: transportText });
  const labelWidth = Math.max(...rows.map(([label]) => label.length));
  const { refusals, warnings, remarks } = findings;
  return [
    `Machine ${printable(machine.hostname)}`,
    ...rows.flatMap(([label, text]) => hanging(`  ${label.padEnd(labelWidth)}  `, text)),
    '',
    ...(subject === undefined ? [] : [...wrapped(`Load: ${printable(subject)}`, width, '  '), '']),
    ...refusals.flatMap((text) => hanging('cannot work: ', text)),
    ...warnings.flatMap((text) => hanging('doubtful:    ', text)),
    ...remarks.flatMap((text) => hanging('to know:     ', text)),
    conclusion(findings),
    '',
  ].join('\n');
}

function conclusion({ refusals, warnings }: Examination['findings']): string {
  if (refusals.length > 0) return 'This load cannot be carried by this machine.';
  return warnings.length > 0 ? 'It works; mind what is doubtful.' : 'Nothing is wrong here.';
}

import { formatCount, formatLatencyUs } from '@broadside/shared';
import { type Finding, type Outcome, outcomeOf } from '../self-test/finding.js';
import type { SelfTestResult } from '../self-test/run-self-test.js';

const OUTCOME_TEXTS: Readonly<Record<Outcome, string>> = {
  ok: 'ok',
  wrong: 'NOT OK',
  unclear: 'too busy to tell',
};

const CONCLUSIONS: Readonly<Record<Outcome, string>> = {
  ok: 'Everything is as claimed on this machine.',
  wrong: 'Something is not as claimed: see NOT OK above.',
  unclear:
    'Counts are as claimed. For some times this machine was too busy with other things to tell: try again later.',
};

/** One line for each claim: what was claimed, measured, the difference, and whether it is within what is allowed. */
export function selfTestText(result: SelfTestResult): string {
  const { findings } = result;
  const rows = [
    ['', 'what', 'claimed', 'measured', 'error', 'allowed', ''],
    ...findings.map((finding, i) => rowOf(finding, findings[i - 1]?.scenario)),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column >= 2 && column <= 5 ? cell.padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
  const outcome = outcomeOf(findings);
  const conclusion = outcome === 'ok' && result.isPartial ? [] : [CONCLUSIONS[outcome]];
  const stopped = result.isPartial ? ['Stopped before the end: not everything was tested.'] : [];
  const stalls = outcome === 'unclear' ? stallLines(result) : [];
  const tableLines = findings.length === 0 ? [] : [...lines, ''];
  return `${[...tableLines, ...stalls, ...conclusion, ...stopped].join('\n')}\n`;
}

/** Why times are unclear, for each scenario with such a time. */
function stallLines({ findings, conditions }: SelfTestResult): string[] {
  const unclear = new Set(
    findings.filter(({ outcome }) => outcome === 'unclear').map(({ scenario }) => scenario),
  );
  return conditions
    .filter(({ scenario }) => unclear.has(scenario))
    .map(({ scenario, stalls }) =>
      stalls === undefined
        ? `${scenario}: this platform does not tell how long threads wait for a CPU`
        : `${scenario}: threads waited ${formatLatencyUs(stalls.perRequestUs)} per request for a CPU, ` +
          `${(stalls.share * 100).toFixed(2)} % of the time`,
    );
}

function rowOf(finding: Finding, scenarioBefore: string | undefined): string[] {
  const { scenario, what, claimed, measured, outcome } = finding;
  return [
    scenario === scenarioBefore ? '' : scenario,
    what,
    quantity(finding, claimed),
    quantity(finding, measured),
    signed(finding, measured - claimed),
    allowedText(finding),
    OUTCOME_TEXTS[outcome],
  ];
}

function allowedText(finding: Finding): string {
  const { allowed, allowedBelow } = finding;
  if (allowed === 0) return 'none';
  const above = quantity(finding, allowed);
  return allowed === allowedBelow ? `±${above}` : `−${quantity(finding, allowedBelow)} +${above}`;
}

function quantity({ unit }: Finding, value: number): string {
  switch (unit) {
    case 'µs':
      return formatLatencyUs(value);
    case 'per second':
      return `${value.toFixed(1)}/s`;
    case 'count':
      return formatCount(value);
  }
}

function signed(finding: Finding, difference: number): string {
  if (difference === 0) return '0';
  return `${difference < 0 ? '−' : '+'}${quantity(finding, Math.abs(difference))}`;
}

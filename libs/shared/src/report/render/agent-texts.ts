/** How the agents of a run fared, side by side, for people. */
import { formatCount, formatLatencyUs } from '../../units.js';
import { outlierSentence } from '../outliers.js';
import type { AgentReport, Report } from '../report.schema.js';
import { printable } from './printable.js';
import { formatShare } from './report-lines.js';

const HEAD = ['', 'requests/s', 'share', 'p50', 'p99', 'failed', 'start', 'stop', 'busy'];
/** Rows that a summary shows; all are in the JSON report. */
const MAX_ROWS = 20;
const MAX_NAME = 14;
/** Clocks that one line spells out. */
const MAX_CLOCKS = 4;

/** One row for each agent that had a part, with a head; nothing for a single one, which has nobody beside it. */
export function agentRows(report: Report): string[][] {
  const agents = report.agents.filter((agent) => agent.shards > 0);
  const isMeasured = agents.some(({ rateHz, p50Us }) => rateHz !== undefined || p50Us !== undefined);
  if (agents.length < 2 || !isMeasured) return [];
  const rows = agents.slice(0, MAX_ROWS).map(rowOf);
  const more = agents.length - rows.length;
  return [HEAD, ...rows, ...(more > 0 ? [[`and ${formatCount(more)} more`]] : [])];
}

function rowOf(agent: AgentReport): string[] {
  const { rateHz, share, p50Us, p99Us, failed, startSkewUs, stopSkewUs, busyShare } = agent;
  return [
    shortName(agent),
    rateHz === undefined ? '' : formatCount(rateHz),
    share === undefined ? '' : formatShare(share, 1),
    p50Us === undefined ? '' : formatLatencyUs(p50Us),
    p99Us === undefined ? '' : formatLatencyUs(p99Us),
    formatCount(failed),
    startSkewUs === undefined ? '' : signed(startSkewUs),
    stopSkewUs === undefined ? '' : signed(stopSkewUs),
    busyShare === undefined ? '' : `${Math.round(busyShare * 100)} %`,
  ];
}

function shortName({ name }: AgentReport): string {
  const clean = printable(name);
  return clean.length > MAX_NAME ? `${clean.slice(0, MAX_NAME - 1)}…` : clean;
}

/** Which agents stand out from the others, and by how much. */
export function outlierTexts(report: Report): string[] {
  return (report.outliers ?? []).map(outlierSentence);
}

/** How far the clocks of the agents are from the coordinator's, and how well that is known. */
export function clockTexts(report: Report): string[] {
  const agents = report.agents.filter((agent) => agent.shards > 0);
  if (agents.length < 2) return [];
  const told = agents
    .slice(0, MAX_CLOCKS)
    .map(
      ({ name, clockOffsetUs, clockUncertaintyUs }) =>
        `${name} ${signed(clockOffsetUs)} ± ${formatLatencyUs(clockUncertaintyUs)}`,
    );
  const more = agents.length - told.length;
  const worstUs = agents.reduce((most, agent) => Math.max(most, agent.clockUncertaintyUs), 0);
  return [
    `coordinator minus agent: ${told.join(', ')}` +
      (more > 0 ? ` and ${formatCount(more)} more (± ${formatLatencyUs(worstUs)} at most)` : ''),
  ];
}

function signed(us: number): string {
  return `${us < 0 ? '−' : '+'}${formatLatencyUs(Math.abs(us))}`;
}

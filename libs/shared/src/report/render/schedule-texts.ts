import { isPaced } from '../../plan/load-fields.js';
import { formatCount, formatCounted, formatDurationMs, formatGiven, formatRate } from '../../units.js';
import type { Report } from '../report.schema.js';
import { formatShare } from './report-lines.js';

/** What was asked for and what came of it: rate, stages, warm-up, pipeline. Nothing for a plain closed load. */
export function scheduleTexts(report: Report): string[] {
  const { plan, counters } = report;
  const texts: string[] = [];
  if (isPaced(plan)) texts.push(paceText(report));
  else if (plan.stages !== undefined)
    texts.push(`stages of connections, at most ${formatCount(plan.connections)}`);
  if (counters.waitedForConnection > 0) {
    const share = formatShare(counters.waitedForConnection, counters.sent);
    texts.push(
      `${formatCounted(counters.waitedForConnection, 'request')} (${share}) waited for a free connection`,
    );
  }
  if (counters.notSentNoConnection > 0) {
    texts.push(
      `${formatCounted(counters.notSentNoConnection, 'request')} not sent: no connection became free`,
    );
  }
  if (plan.warmupMs !== undefined) {
    texts.push(`warm-up of ${formatDurationMs(plan.warmupMs)} before, in no total`);
  }
  if (plan.pipeline !== undefined && plan.pipeline > 1)
    texts.push(`pipelines of ${formatCount(plan.pipeline)} requests`);
  if (counters.retried > 0) texts.push(`${formatCounted(counters.retried, 'request')} sent once more`);
  return texts;
}

function paceText({ plan, counters, timeTakenUs }: Report): string {
  const { rate, stages, arrivals } = plan;
  const kind = arrivals === 'poisson' ? ', random arrivals' : '';
  const asked =
    stages === undefined
      ? `${formatGiven(rate ?? 0)}/s`
      : `${formatCounted(stages.length, 'stage')} of a rate`;
  const seconds = timeTakenUs / 1e6;
  const perSecond = seconds > 0 ? ` (${formatRate(counters.sent / seconds)}/s)` : '';
  const seen = `${formatCount(counters.planned)} planned, ${formatCount(counters.sent)} sent${perSecond}`;
  return `asked for ${asked}${kind}: ${seen}`;
}

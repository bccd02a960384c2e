/**
 * Says which side was the limit, from the evidence of one run only (design section 8). The first that holds:
 *
 *   too few replies                                                undecided
 *   rate: nearly all that was due was sent on time                 plan
 *   an engine thread without spare time in most seconds            generator
 *   an engine thread neither with nor without spare time           undecided
 *   rate: requests waited for connections                          target where replies slowed down, else plan
 *   an agent's link nearly full                                    network
 *   the target sheds load: 429, 503, timeouts                      target
 *   one connection                                                 plan
 *   times like the shortest: nothing queued                        plan
 *   waits far above the shortest: requests queued beyond us        target
 *   anything else                                                  undecided
 *
 * And `target` becomes undecided where client and target share CPUs and had to wait for them.
 *
 * A queue must form before whatever is full, and nowhere else: a thread that has time to spare is not full, so
 * it cannot be the limit, and what queued then queued beyond it. The shortest wait stands for an idle target,
 * because the first replies of a run found no queue. Each rule has its reasons in docs/MEASUREMENT.md.
 */
import { formatCount, formatCounted, formatDurationMs } from '../units.js';
import type { Second } from '../wire/live-message.js';
import {
  DEMAND_FULL,
  DEMAND_SPARE,
  demandOf,
  demandText,
  GC_SHARE_HIGH,
  percent,
  RUN_DELAY_HIGH,
  SHARED_DELAY_HIGH,
  STEAL_HIGH,
} from './generator-demand.js';
import { limitBeyondGenerator } from './limit-beyond-generator.js';
import { type Limit, undecided } from './limit-finding.js';
import { missedRateLimit, reachedRateLimit } from './paced-limit.js';
import type { Report } from './report.schema.js';
import {
  fewerSlotsAdvice,
  MOVE_ONE,
  sharedCpuDoubt,
  sharesMachine,
  slotsInUse,
  spareAdvice,
} from './shared-machine.js';

/** Fewer replies than this say nothing about a limit. */
const MIN_REPLIES = 100;
/** The threads have time to spare when they have it in this share of the seconds: one hiccup is none. */
const USUAL_SHARE = 0.9;

export function limitOf(report: Omit<Report, 'verdict'>): Limit {
  const seconds = judgedSeconds(report);
  const replies = report.latency.wait.count;
  if (seconds.length === 0 || replies < MIN_REPLIES) {
    const seen = `${formatCounted(replies, 'reply', 'replies')} in ${formatDurationMs(report.timeTakenUs / 1_000)}`;
    return undecided(`too little to tell who was the limit: ${seen}`);
  }
  const fullSeconds = seconds.filter((second) => demandOf(second) >= DEMAND_FULL).length;
  const isFull = fullSeconds * 2 > seconds.length;
  const reached = reachedRateLimit(report);
  if (reached !== undefined) return reached;
  if (isFull) return generatorLimit(report, seconds, fullSeconds);
  const demand = usualOf(seconds.map(demandOf));
  if (demand >= DEMAND_SPARE) {
    return betweenLimit(report, seconds, demand);
  }
  const delay = usualOf(seconds.map((second) => second.runDelayShareMax ?? 0));
  const found = missedRateLimit(report) ?? limitBeyondGenerator(report, { demand, delay });
  return sharedCpuDoubt(report, found, delay);
}

/** Those with load, and of these the ones that were long enough to be measured, where any was. */
function judgedSeconds({ seconds }: Omit<Report, 'verdict'>): Second[] {
  const loaded = seconds.filter((s) => s.isWarmup !== true && (s.sent > 0 || s.completed > 0));
  const measured = loaded.filter((second) => second.demandShareMax !== undefined);
  return measured.length > 0 ? measured : loaded;
}

/** Threads that were neither full nor with time to spare say nothing about the other side. */
function betweenLimit(report: Omit<Report, 'verdict'>, seconds: readonly Second[], demand: number): Limit {
  const delay = medianOf(seconds.map((second) => second.runDelayShareMax ?? 0));
  const usual = `an engine thread ${demandText(demand, delay, 'needed')}`;
  if (sharesMachine(report) && delay >= SHARED_DELAY_HIGH) {
    const advice = [MOVE_ONE, ...fewerSlotsAdvice(report)];
    return { ...undecided(`${usual}: client and target share the CPUs, too busy to tell`), advice };
  }
  if (delay < RUN_DELAY_HIGH) {
    return { ...undecided(`${usual}: neither idle nor full`), advice: spareAdvice(report) };
  }
  return {
    ...undecided(`${usual}: the machine was too busy to tell`),
    advice: starvedAdvice(report),
  };
}

function generatorLimit(
  report: Omit<Report, 'verdict'>,
  seconds: readonly Second[],
  fullSeconds: number,
): Limit {
  const when = `in ${formatCount(fullSeconds)} of ${formatCounted(seconds.length, 'second')}`;
  const reasons = [
    `an engine thread needed a CPU for at least ${percent(DEMAND_FULL)} of the time ${when}: ` +
      'the target may be faster than this number',
  ];
  const delay = medianOf(seconds.map((second) => second.runDelayShareMax ?? 0));
  const isStarved = delay >= RUN_DELAY_HIGH;
  if (isStarved) {
    reasons.push(`an engine thread was ready to run and had no CPU for ${percent(delay)} of the time`);
  }
  const steal = medianOf(seconds.map((second) => second.stealShareMax ?? 0));
  if (steal >= STEAL_HIGH) {
    reasons.push(`the hypervisor gave ${percent(steal)} of the load machine's CPU time to others`);
  }
  const gcShare = medianOf(seconds.map((second) => (second.gcPauseMaxUs ?? 0) / 1e6));
  if (gcShare >= GC_SHARE_HIGH) {
    reasons.push(`an engine thread stood still for garbage collection ${percent(gcShare)} of the time`);
  }
  return { limit: 'generator', reasons, advice: generatorAdvice(report, isStarved) };
}

function generatorAdvice(report: Omit<Report, 'verdict'>, isStarved: boolean): string[] {
  const { slots, cpus } = slotsInUse(report);
  const advice: string[] = [];
  if (isStarved || sharesMachine(report)) {
    advice.push(...starvedAdvice(report));
  } else if (slots < cpus && slots < report.plan.connections) {
    const inUse = `${formatCount(slots)} ${slots === 1 ? 'was' : 'were'} in use`;
    advice.push(`add slots: ${inUse} on ${formatCounted(cpus, 'CPU')}`);
  } else {
    const onCpus = `${formatCounted(slots, 'slot')} on ${formatCounted(cpus, 'CPU')}`;
    advice.push(
      ...fewerSlotsAdvice(report),
      `start more agents, on other machines: ${onCpus} can do no more`,
    );
  }
  if (hasFasterTransport(report)) {
    advice.push('on Linux a faster transport carries more in each slot (--transport auto)');
  }
  return advice;
}

/**
 * Whether `auto` could give a shard another transport than the portable one: that was nobody's choice but a person's,
 * and nothing in the plan needs what only it can do.
 */
function hasFasterTransport({ plan, shards, agents, target }: Omit<Report, 'verdict'>): boolean {
  const isTls = plan.target.startsWith('https:');
  const { unixSocket, bind, socketBufferBytes } = plan;
  const needsSocket =
    isTls || unixSocket !== undefined || bind !== undefined || socketBufferBytes !== undefined;
  if (needsSocket || (target.addressesUsed ?? 1) > 1) return false;
  const onLinux = new Set(
    agents.filter(({ machine }) => machine.os.startsWith('Linux')).map((a) => a.agentId),
  );
  // A note says why a faster one that was wanted could not be used.
  return shards.some(
    ({ agentId, transport, transportNote }) =>
      transport === 'socket' && transportNote === undefined && onLinux.has(agentId),
  );
}

/** More slots on a machine without a free CPU would only wait for each other. */
function starvedAdvice(report: Omit<Report, 'verdict'>): string[] {
  if (sharesMachine(report)) return [MOVE_ONE, ...fewerSlotsAdvice(report)];
  return ['the load machine is too busy: stop what else runs there, or use fewer slots on it'];
}

/** The value that `USUAL_SHARE` of the seconds do not exceed. */
function usualOf(values: readonly number[]): number {
  return rankOf(values, USUAL_SHARE);
}

function medianOf(values: readonly number[]): number {
  return rankOf(values, 0.5);
}

/** Nearest rank. */
function rankOf(values: readonly number[], share: number): number {
  const inOrder = [...values].sort((a, b) => a - b);
  return inOrder[Math.max(Math.ceil(share * inOrder.length) - 1, 0)] ?? 0;
}

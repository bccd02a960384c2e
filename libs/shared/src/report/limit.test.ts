import { describe, expect, it } from 'vitest';
import {
  balancedCounters,
  type SampleReport,
  type Seen,
  sampleAgent,
  sampleReport,
} from '../testing/observed.js';
import type { Second } from '../wire/live-message.js';
import type { Report, ShardReport, Verdict } from './report.schema.js';

function second(busyShareMax: number, number = 0): Second {
  return {
    second: number,
    planned: 1_000,
    sent: 1_000,
    completed: 1_000,
    failed: 0,
    inFlight: 10,
    openConnections: 10,
    bytesReceived: 1_000,
    busyShareMax,
  };
}

type More = SampleReport & {
  readonly counters?: NonNullable<Seen['counters']>;
  readonly samples?: NonNullable<Seen['samples']>;
};

/** A run of ten seconds: its waits, its seconds (or only how busy its threads were), and anything else. */
function reportOf(
  waitsUs: readonly number[],
  seconds: readonly (number | Second)[],
  more: More = {},
): Report {
  const completed = waitsUs.length;
  return sampleReport({
    ...more,
    plan: { connections: 50, requests: undefined, duration: '10s', ...more.plan },
    seen: {
      counters: balancedCounters({ completed, bytesReceived: 1_000 * completed, ...more.counters }),
      samples: { wait: waitsUs, reused: waitsUs, ...more.samples },
      gauges: { firstSendUs: 0, lastEventUs: 10_000_000 },
      ...more.seen,
    },
    input: { seconds: seconds.map((s, i) => (typeof s === 'number' ? second(s, i) : s)), ...more.input },
  });
}

function runOf(...given: Parameters<typeof reportOf>): Verdict {
  return reportOf(...given).verdict;
}

/** One wait that found no queue, and all the others. */
const waits = (fastestUs: number, usualUs: number, count = 1_000): number[] => [
  fastestUs,
  ...Array.from({ length: count - 1 }, () => usualUs),
];

const shard = (more: Partial<ShardReport> = {}): ShardReport => ({
  shardIndex: 0,
  attempt: 1,
  agentId: 'a1',
  connections: 50,
  ...more,
});

const agentWith = (machine: Partial<Report['agents'][number]['machine']>) => {
  const agent = sampleAgent('a1');
  return { ...agent, machine: { ...agent.machine, ...machine } };
};

describe('limit: generator', () => {
  it('when a thread was full most of the time', () => {
    const verdict = runOf(waits(100, 900), [0.95, 0.97, 0.5, 0.99]);
    expect(verdict.limit).toBe('generator');
    expect(verdict.reasons.join()).toContain('needed a CPU for at least 90 % of the time in 3 of 4 seconds');
    expect(verdict.advice.join()).toContain('add slots: 1 was in use on 2 CPUs');
  });

  it('and then the verdict warns about the headline number', () => {
    expect(runOf(waits(100, 900), [0.95]).warning).toBe(
      'the generator was the limit: the target may be faster than this number',
    );
    expect(runOf(waits(100, 900), [0.2]).warning).toBeUndefined();
  });

  it('when a thread that looks idle had work and no CPU for it', () => {
    const starved = { ...second(0.4), demandShareMax: 0.97, runDelayShareMax: 0.45 };
    const verdict = runOf(waits(1_000, 8_000), [starved, starved], {
      input: { seconds: [starved, starved], shards: [shard({ sharesMachine: true })] },
    });
    expect(verdict.limit).toBe('generator');
    expect(verdict.reasons.join()).toContain('had no CPU for 45 % of the time');
    expect(verdict.advice[0]).toBe('client and target share a machine: move one of them to another');
  });

  it('names the hypervisor where it took CPU time', () => {
    const stolen = { ...second(0.95), stealShareMax: 0.3 };
    expect(runOf(waits(100, 900), [stolen]).reasons.join()).toContain('hypervisor gave 30 %');
  });

  it('names garbage collection where it held a thread up', () => {
    const paused = { ...second(0.95), gcPauseMaxUs: 120_000 };
    expect(runOf(waits(100, 900), [paused]).reasons.join()).toContain('garbage collection 12 % of the time');
  });

  it('asks for other machines where every CPU has its slot already', () => {
    const shards = [shard(), shard({ shardIndex: 1 })];
    const verdict = runOf(waits(100, 900), [0.95], { input: { seconds: [second(0.95)], shards } });
    expect(verdict.advice.join()).toContain(
      'start more agents, on other machines: 2 slots on 2 CPUs can do no more',
    );
  });

  it('names the faster transport where the portable one ran', () => {
    const input = { seconds: [second(0.95)], shards: [shard({ transport: 'socket' })] };
    expect(runOf(waits(100, 900), [], { input }).advice.join()).toContain('--transport auto');
  });

  it.each<[string, Partial<ShardReport>, SampleReport['plan'], Report['agents'][number]['machine']['os']]>([
    ['a faster one was wanted', { transportNote: 'epoll is not used: no koffi' }, {}, 'Linux'],
    ['the target speaks TLS', {}, { target: 'https://127.0.0.1:8443/' }, 'Linux'],
    ['the plan binds local addresses', {}, { bind: '127.0.0.2' }, 'Linux'],
    ['no agent runs on Linux', {}, {}, 'Darwin'],
  ])('names no faster transport where %s', (_, more, plan = {}, os) => {
    const input = {
      seconds: [second(0.95)],
      shards: [shard({ transport: 'socket', ...more })],
      agents: [agentWith({ os })],
    };
    expect(runOf(waits(100, 900), [], { plan, input }).advice.join()).not.toContain('--transport');
  });

  it('judges seconds with load only, and none of the warm-up', () => {
    const idle = { ...second(0.1, 2), sent: 0, completed: 0 };
    expect(runOf(waits(100, 900), [0.95, 0.95, idle, idle, idle]).limit).toBe('generator');
    const warm = { ...second(0.99), isWarmup: true as const };
    expect(runOf(waits(1_000, 8_000), [warm, warm, 0.2]).limit).toBe('target');
  });
});

describe('limit of a run whose last second was cut off', () => {
  it('is judged by the seconds that were measured', () => {
    const measured = { ...second(0.2), demandShareMax: 0.3 };
    const rest = { ...second(1, 3), completed: 2 };
    expect(runOf(waits(1_000, 8_000), [measured, measured, measured, rest]).limit).toBe('target');
  });
});

describe('limit: plan', () => {
  it('when nothing queued and the threads were idle', () => {
    const verdict = runOf(waits(1_000, 1_800), [0.2, 0.3]);
    expect(verdict.limit).toBe('plan');
    expect(verdict.reasons.join()).toMatch(/1\.8 times the shortest.*needed a CPU for 30 % of the time/);
    expect(verdict.advice.join()).toContain('raise the connections (-c) above 50');
  });

  it('when one connection asked for one request at a time, whatever the waits', () => {
    const verdict = runOf(waits(20, 80), [0.4], { plan: { connections: 1 } });
    expect(verdict.limit).toBe('plan');
    expect(verdict.reasons.join()).toContain('measures latency, no capacity');
  });
});

describe('limit: target', () => {
  it('when requests queued although the threads were idle', () => {
    const verdict = runOf(waits(1_000, 8_000), [0.2, 0.3]);
    expect(verdict.limit).toBe('target');
    expect(verdict.reasons.join()).toMatch(/8\.0 times the shortest/);
  });

  it('in spite of one second in ten that was busy', () => {
    const seconds = [0.2, 0.2, 0.2, 0.2, 0.95, 0.2, 0.2, 0.2, 0.2, 0.2];
    expect(runOf(waits(1_000, 8_000), seconds).limit).toBe('target');
  });

  it('when it sheds load or lets it run out of time', () => {
    const shed = runOf(waits(1_000, 1_500), [0.2], {
      counters: { completed: 980, status: 20 },
      seen: {
        counters: balancedCounters({ completed: 980, status: 20 }),
        statusCounts: [
          [200, 980],
          [503, 20],
        ],
        samples: { wait: waits(1_000, 1_500) },
      },
    });
    expect(shed.limit).toBe('target');
    expect(shed.reasons.at(-1)).toContain('20 of 1,000 requests were answered with 429 or 503');
  });

  it('when requests ran out of time and no network was in between', () => {
    const counters = { timeout: 60, sent: 1_060, planned: 1_060 };
    const local = { seconds: [second(0.2)], shards: [shard({ sharesMachine: true })] };
    const verdict = runOf(waits(1_000, 1_500), [], { counters, input: local });
    expect(verdict.limit).toBe('target');
    expect(verdict.reasons.at(-1)).toContain('60 of 1,060 requests timed out');
    expect(runOf(waits(1_000, 1_500), [0.2], { counters }).limit).toBe('undecided');
  });

  it('on the same machine only while the generator left it the CPUs', () => {
    const self = { busyShare: 0.6, cpuShare: 0.5, cpuUs: 1, sendLagMaxUs: 0 };
    const both = [0, 1].map((shardIndex) => shard({ shardIndex, sharesMachine: true, self }));
    const seconds = [second(0.6)];
    const greedy = runOf(waits(1_000, 8_000), [], { input: { seconds, shards: both } });
    expect(greedy.limit).toBe('undecided');
    expect(greedy.reasons.at(-1)).toContain('the generator, which took 50 % of the CPUs');
    const modest = [shard({ sharesMachine: true, self: { ...self, cpuShare: 0.1 } })];
    expect(runOf(waits(1_000, 8_000), [], { input: { seconds, shards: modest } }).limit).toBe('target');
  });
});

describe('limit: network', () => {
  const carried = (bytesReceived: number, more: Partial<ShardReport> = {}) => ({
    seconds: [second(0.2)],
    agents: [agentWith({ linkMbps: 1_000 })],
    shards: [shard({ counters: { ...sampleReport().counters, bytesReceived }, ...more })],
  });

  it('when an agent filled its link', () => {
    const verdict = runOf(waits(1_000, 8_000), [], { input: carried(1_100_000_000) });
    expect(verdict.limit).toBe('network');
    expect(verdict.reasons.at(-1)).toBe(
      'a1 carried 105MiB/s over a link of 1,000 Mbit/s: 88 % of it, headers not counted',
    );
  });

  it('not below, and not for traffic that never left the machine', () => {
    expect(runOf(waits(1_000, 8_000), [], { input: carried(1_000_000_000) }).limit).toBe('target');
    const local = carried(1_100_000_000, { sharesMachine: true });
    expect(runOf(waits(1_000, 8_000), [], { input: local }).limit).toBe('target');
  });
});

describe('limit: undecided', () => {
  it.each<[string, Verdict]>([
    ['too few replies', runOf(waits(1_000, 8_000, 99), [0.2])],
    ['no seconds', runOf(waits(1_000, 8_000), [])],
    ['threads neither idle nor full', runOf(waits(1_000, 8_000), [0.8, 0.95, 0.5])],
    ['waits in between', runOf(waits(1_000, 3_000), [0.2])],
    [
      'no queue but failures',
      runOf(waits(1_000, 1_500), [0.2], { counters: { truncated: 3, sent: 1_003, planned: 1_003 } }),
    ],
    [
      'replies that arrive slowly',
      runOf(waits(1_000, 1_500), [0.2], { samples: { reused: waits(2_000, 9_000) } }),
    ],
    ['a network of unknown speed', runOf(waits(1_000, 8_000), [0.2], { counters: { bytesReceived: 2e9 } })],
  ])('with %s, and says why', (_, verdict) => {
    expect(verdict.limit).toBe('undecided');
    expect(verdict.reasons.at(-1)).toMatch(/\d/);
    expect(verdict.warning).toBeUndefined();
  });
});

describe('limit of a machine that was too busy to tell', () => {
  it('is undecided, and says what took the time and what to do', () => {
    const starved = { ...second(0.4), demandShareMax: 0.75, runDelayShareMax: 0.38 };
    const input = { seconds: [starved], shards: [shard({ sharesMachine: true })] };
    const verdict = runOf(waits(1_000, 8_000), [], { input });
    expect(verdict.limit).toBe('undecided');
    expect(verdict.reasons.at(-1)).toContain(
      'needed a CPU for 75 % of the time, and waited for one up to 38 %',
    );
    expect(verdict.advice).toEqual(['client and target share a machine: move one of them to another']);
    const other = runOf(waits(1_000, 8_000), [starved]);
    expect(other.advice).toEqual([expect.stringContaining('the load machine is too busy')]);
  });
});

describe('limit where client and target share the CPUs', () => {
  /** Two slots and the target on two CPUs: threads that did little and waited much. */
  const crowded = (demand: number, delay: number, shards = [shard({ sharesMachine: true })]): Verdict => {
    const each = { ...second(0.06), demandShareMax: demand, runDelayShareMax: delay };
    return runOf(waits(1_000, 8_000), [], { input: { seconds: [each, each, each], shards } });
  };

  it('is never the target while engine threads wait for a CPU, on either side of a threshold', () => {
    for (const demand of [0.15, 0.62, 0.69, 0.72, 0.85]) {
      const verdict = crowded(demand, Math.min(demand, 0.5));
      expect(verdict.limit, `${demand}`).toBe('undecided');
      expect(verdict.reasons.join(), `${demand}`).toContain('client and target share the CPUs');
      expect(verdict.advice[0]).toBe('client and target share a machine: move one of them to another');
    }
    expect(crowded(0.3, 0.02).limit).toBe('target');
  });

  it('is told without calling a waiting thread busy', () => {
    const { reasons } = crowded(0.62, 0.5);
    expect(reasons.join()).toContain('needed a CPU for 62 % of the time, and waited for one up to 50 %');
    expect(reasons.join()).not.toMatch(/were busy/);
  });

  it('is not the target that shed load or was late either', () => {
    const each = { ...second(0.06), demandShareMax: 0.4, runDelayShareMax: 0.3 };
    const input = { seconds: [each], shards: [shard({ sharesMachine: true })] };
    const counters = { timeout: 60, sent: 1_060, planned: 1_060 };
    expect(runOf(waits(1_000, 1_500), [], { counters, input }).limit).toBe('undecided');
  });

  it('asks for one slot where slots and target need more than the CPUs, and never for more slots', () => {
    const two = [0, 1].map((shardIndex) => shard({ shardIndex, sharesMachine: true }));
    for (const [demand, delay] of [
      [0.4, 0.3],
      [0.8, 0.3],
      [0.8, 0.01],
      [0.97, 0.5],
      [0.97, 0.01],
    ] as const) {
      const { advice } = crowded(demand, delay, two);
      expect(advice.join(), `${demand} ${delay}`).toContain('use fewer slots (--slots 1)');
      expect(advice.join(), `${demand} ${delay}`).not.toMatch(/more slots|add slots/);
    }
  });

  it('asks for other machines, or fewer slots, where every CPU has a slot', () => {
    const slots = (count: number) =>
      Array.from({ length: count }, (_, shardIndex) => shard({ shardIndex, sharesMachine: false }));
    expect(crowded(0.8, 0, slots(1)).advice.join()).toContain('use more slots');
    expect(crowded(0.8, 0, slots(2)).advice.join()).toContain('start more agents on other machines');
    expect(crowded(0.8, 0, slots(8)).advice.join()).toContain('use fewer slots (--slots 2)');
  });
});

describe('limit of a load with a rate', () => {
  /** 10 000 requests in 10 s were due. */
  function paced(
    missing: { readonly notSentNoConnection?: number; readonly waitedForConnection?: number },
    more: { readonly lagUs?: number; readonly busy?: number; readonly waitsUs?: readonly number[] } = {},
  ): Verdict {
    const sent = 10_000 - (missing.notSentNoConnection ?? 0);
    const { lagUs = 100, busy = 0.3, waitsUs = waits(1_000, 1_500) } = more;
    return runOf(waitsUs, [busy, busy, busy], {
      plan: { rate: 1_000 },
      counters: { ...missing, planned: 10_000, sent, completed: sent },
      samples: { sendLag: Array.from({ length: 1_000 }, () => lagUs) },
    });
  }

  it('is the plan when nearly all that was due was sent on time', () => {
    const verdict = paced({ notSentNoConnection: 100 });
    expect(verdict.limit).toBe('plan');
    expect(verdict.reasons.at(-1)).toBe(
      '9,900 of 10,000 requests that were due were sent (990/s), ' +
        '99 % of them at most 100µs late: the rate was reached',
    );
    expect(verdict.advice).toEqual(["raise the rate to find the target's limit"]);
  });

  it('advises no other rate for a run that somebody stopped', () => {
    const { run } = sampleReport();
    const verdict = runOf(waits(1_000, 1_500), [0.3, 0.3, 0.3], {
      plan: { rate: 1_000 },
      counters: { planned: 10_000, sent: 5_000, completed: 5_000, notSentStopped: 5_000 },
      samples: { sendLag: [100] },
      input: { seconds: [second(0.3)], run: { ...run, state: 'aborted', reason: 'killed: enough' } },
    });
    expect(verdict).toMatchObject({ outcome: 'aborted', limit: 'plan', advice: [] });
  });

  it('is the plan even with full threads, as long as the rate was reached', () => {
    expect(paced({}, { busy: 0.95 }).limit).toBe('plan');
  });

  it('is the generator when it was missed and a thread was full', () => {
    expect(paced({ notSentNoConnection: 2_000 }, { busy: 0.95 }).limit).toBe('generator');
    expect(paced({}, { busy: 0.95, lagUs: 50_000 }).limit).toBe('generator');
  });

  it('is the target when requests waited for connections and replies came slowly', () => {
    const verdict = paced({ waitedForConnection: 5_000 }, { lagUs: 50_000, waitsUs: waits(1_000, 9_000) });
    expect(verdict.limit).toBe('target');
    expect(verdict.reasons.at(-1)).toContain('5,000 of them only when a connection became free');
  });

  it('is the plan when there were too few connections for the rate', () => {
    const verdict = paced({ notSentNoConnection: 4_000 });
    expect(verdict.limit).toBe('plan');
    expect(verdict.advice).toEqual(['raise the connections (-c) above 50']);
  });

  it('is undecided when sends were late and nobody was full', () => {
    expect(paced({}, { lagUs: 50_000 }).limit).toBe('undecided');
    const between = paced({ notSentNoConnection: 4_000 }, { waitsUs: waits(1_000, 3_000) });
    expect(between.limit).toBe('undecided');
  });

  it('does not hold the rest of a budget against the rate', () => {
    const verdict = runOf(waits(1_000, 1_500), [0.2], {
      plan: { rate: 1_000, requests: 1_000_000 },
      counters: { planned: 1_000_000, sent: 10_000, completed: 10_000, notSentTimeOver: 990_000 },
      samples: { sendLag: [100] },
    });
    expect(verdict.limit).toBe('plan');
  });
});

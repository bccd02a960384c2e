import { describe, expect, it } from 'vitest';
import { planSchema } from '../plan/plan.schema.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import {
  demandOf,
  type LoadCeilings,
  type LoadDemand,
  whyAboveCeilings,
  whyNoRoom,
} from './load-ceilings.js';

const demandOfPlan = (fields: object): LoadDemand =>
  demandOf(planSchema.parse({ target: 'http://127.0.0.1/', ...fields }));

describe('the demand of a plan', () => {
  it.each<[object, LoadDemand]>([
    [{ connections: 7 }, { rate: undefined, connections: 7 }],
    [{ rate: 50.5 }, { rate: 50.5, connections: 10 }],
    [
      { rate: 50, stages: [{ duration: '1s', rate: 10 }] },
      { rate: 50, connections: 10 },
    ],
    [
      {
        stages: [
          { duration: '1s', rate: 10 },
          { duration: '1s', rate: 90 },
        ],
      },
      { rate: 90, connections: 10 },
    ],
    [{ stages: [{ duration: '1s', connections: 20 }] }, { rate: undefined, connections: 20 }],
  ])('of %j is its highest moment', (fields, demand) => {
    expect(demandOfPlan(fields)).toEqual(demand);
  });
});

describe('ceilings', () => {
  it('refuse a plan that is above those of a run or of the cluster, in one line', () => {
    const paced = { rate: 100, connections: 10 };
    expect(whyAboveCeilings({ runRate: 99 }, paced)).toBe(
      'the plan asks for 100 requests/s, a run here may send 99 at most',
    );
    expect(whyAboveCeilings({ runRate: 200, clusterRate: 50 }, paced)).toContain('may send 50 at most');
    expect(whyAboveCeilings({ runConnections: 9 }, paced)).toContain('10 connections, a run here may have 9');
    expect(whyAboveCeilings({ runRate: 100, runConnections: 10 }, paced)).toBeUndefined();
    expect(whyAboveCeilings({}, { rate: undefined, connections: 1_000_000 })).toBeUndefined();
  });

  it('refuse a run without a rate as soon as there is a ceiling for rates', () => {
    const closed = { rate: undefined, connections: 1 };
    expect(whyAboveCeilings({ clusterRate: 5 }, closed)).toContain('give it one');
    expect(whyAboveCeilings({ runConnections: 5 }, closed)).toBeUndefined();
  });

  it(`are kept by all runs together, whatever comes in whichever order (seed ${FUZZ_SEED})`, () => {
    const random = new Random(FUZZ_SEED);
    for (let round = 0; round < 200; round++) {
      const maybe = (highest: number): number | undefined =>
        random.next() < 0.7 ? random.int(1, highest) : undefined;
      const ceilings: LoadCeilings = {
        runRate: maybe(500),
        clusterRate: maybe(1_000),
        runConnections: maybe(50),
        clusterConnections: maybe(100),
      };
      let running: LoadDemand[] = [];
      for (let step = 0; step < 100; step++) {
        const demand = {
          rate: random.next() < 0.9 ? random.int(1, 600) : undefined,
          connections: random.int(1, 60),
        };
        const isRefused = whyAboveCeilings(ceilings, demand) !== undefined;
        if (!isRefused && whyNoRoom(ceilings, demand, running) === undefined) running.push(demand);
        // What is not refused runs when nothing else does: nobody waits for ever.
        if (!isRefused) expect(whyNoRoom(ceilings, demand, [])).toBeUndefined();
        const rate = running.reduce((sum, each) => sum + (each.rate ?? Number.POSITIVE_INFINITY), 0);
        const connections = running.reduce((sum, each) => sum + each.connections, 0);
        if (ceilings.clusterRate !== undefined) expect(rate).toBeLessThanOrEqual(ceilings.clusterRate);
        if (ceilings.clusterConnections !== undefined) {
          expect(connections).toBeLessThanOrEqual(ceilings.clusterConnections);
        }
        running = running.filter(() => random.next() < 0.8);
      }
    }
  });
});

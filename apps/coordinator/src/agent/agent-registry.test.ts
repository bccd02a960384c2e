import { PROTOCOL_VERSION } from '@broadside/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AgentLink, AgentRegistry, type Hello } from './agent-registry.js';

const limits = { silenceMs: 3_000, graceMs: 2_000 };
const attempt = { runId: 'r', shardIndex: 0, attempt: 1 };

function helloOf(agentId: string, slots = 2): Hello {
  const machine = { hostname: 'h', cpus: 2, cpuModel: 'c', memoryBytes: 1, os: 'o', arch: 'a', node: 'n' };
  return {
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    agentId,
    name: agentId,
    version: '1',
    slots,
    machine,
    attempts: [],
  };
}

class RecordingLink implements AgentLink {
  readonly closed: string[] = [];
  send(): void {}
  close(_code: number, reason: string): void {
    this.closed.push(reason);
  }
}

describe('the agent registry', () => {
  let nowMs = 0;
  let registry: AgentRegistry;
  beforeEach(() => {
    nowMs = 0;
    registry = new AgentRegistry({ nowMs: () => nowMs, epochUs: () => nowMs * 1_000 });
  });

  it('counts reserved slots as taken', () => {
    registry.join(helloOf('a'), new RecordingLink());
    registry.reserve('a', attempt);
    expect(registry.rooms()).toEqual([{ agentId: 'a', slots: 2, freeSlots: 1, labels: {} }]);
    registry.release('a', attempt);
    expect(registry.rooms()[0]?.freeSlots).toBe(2);
  });

  it('takes an agent back within the grace, with its reservations and its age', () => {
    const first = new RecordingLink();
    registry.join(helloOf('a'), first);
    registry.reserve('a', attempt);
    nowMs = 1_000;
    registry.disconnected('a', first);
    expect(registry.rooms()[0]?.freeSlots).toBe(0);
    nowMs = 2_900;
    expect(registry.takeLost(undefined, limits)).toEqual([]);
    registry.join(helloOf('a'), new RecordingLink());
    nowMs = 5_000;
    expect(registry.takeLost(undefined, limits)).toEqual([]);
    expect(registry.rooms()[0]?.freeSlots).toBe(1);
  });

  it('loses an agent that does not come back, and one that is silent', () => {
    const [a, b] = [new RecordingLink(), new RecordingLink()];
    registry.join(helloOf('a'), a);
    registry.join(helloOf('b'), b);
    registry.disconnected('a', a);
    nowMs = 2_500;
    expect(registry.takeLost(undefined, limits)).toMatchObject([{ id: 'a', sign: 'disconnected' }]);
    nowMs = 3_001;
    expect(registry.takeLost(undefined, limits)).toMatchObject([{ id: 'b', sign: 'silent' }]);
    expect(b.closed).toHaveLength(1);
    expect(registry.rooms()).toEqual([]);
  });

  it('loses nobody whose word was still to be read when the others were looked at', () => {
    registry.join(helloOf('a'), new RecordingLink());
    registry.join(helloOf('b'), new RecordingLink());
    nowMs = 3_001;
    const checkedAtMs = nowMs;
    nowMs = 4_500;
    registry.heard('a');
    expect(registry.takeLost(checkedAtMs, limits).map((agent) => agent.id)).toEqual(['b']);
  });

  it('waits longer for an agent that is away where very many are', () => {
    const links = Array.from({ length: 1_001 }, (_, i) => {
      const link = new RecordingLink();
      registry.join(helloOf(`a${i}`), link);
      return link;
    });
    links.forEach((link, i) => registry.disconnected(`a${i}`, link));
    nowMs = 4_000;
    expect(registry.takeLost(undefined, limits)).toEqual([]);
    nowMs = 4_001;
    expect(registry.takeLost(undefined, limits)).toHaveLength(1_001);
  });

  it('lets a name go with its agent', () => {
    registry.join({ ...helloOf('a'), name: 'load' }, new RecordingLink());
    nowMs = 10_000;
    expect(registry.takeLost(undefined, limits)).toHaveLength(1);
    registry.join({ ...helloOf('b'), name: 'load' }, new RecordingLink());
    expect(registry.get('b')?.name).toBe('load');
  });

  it('loses nobody for a pause of its own', () => {
    const away = new RecordingLink();
    registry.join(helloOf('a'), new RecordingLink());
    registry.join(helloOf('b'), away);
    registry.disconnected('b', away);
    nowMs = 10_000;
    registry.forgiveSilence(9_000);
    expect(registry.takeLost(undefined, limits)).toEqual([]);
    nowMs = 12_500;
    expect(registry.takeLost(undefined, limits).map((agent) => agent.id)).toEqual(['a', 'b']);
  });

  it('gives an agent of an earlier coordinator longer to come back', () => {
    const { kind: _kind, protocol: _protocol, attempts: _attempts, ...facts } = helloOf('a');
    registry.expect({ ...facts, clockOffsetUs: 5, clockUncertaintyUs: 2 });
    registry.reserve('a', attempt);
    nowMs = 5_000;
    expect(registry.takeLost(undefined, limits)).toEqual([]);
    expect(registry.rooms()).toEqual([{ agentId: 'a', slots: 2, freeSlots: 0, labels: {} }]);
    registry.join(helloOf('a'), new RecordingLink());
    expect(registry.rooms()[0]?.freeSlots).toBe(1);
    registry.expect({ ...facts, agentId: 'b', clockOffsetUs: 5, clockUncertaintyUs: 2 });
    nowMs = 14_000;
    expect(registry.takeLost(undefined, limits).map((agent) => agent.id)).toContain('b');
  });

  it('tells agents of one name apart, and lets each keep its own when it is back', () => {
    const namesOf = (): string[] => registry.summaries().map(({ name }) => name);
    const long = 'n'.repeat(255);
    registry.join({ ...helloOf('a'), name: 'load' }, new RecordingLink());
    registry.join({ ...helloOf('b'), name: 'load' }, new RecordingLink());
    registry.join({ ...helloOf('c'), name: 'load' }, new RecordingLink());
    registry.join({ ...helloOf('b'), name: 'load' }, new RecordingLink());
    expect(namesOf().toSorted()).toEqual(['load', 'load (2)', 'load (3)']);
    expect(registry.get('b')?.name).toBe('load (2)');
    registry.join({ ...helloOf('d'), name: long }, new RecordingLink());
    registry.join({ ...helloOf('e'), name: long }, new RecordingLink());
    expect(registry.get('e')?.name).toBe(`${'n'.repeat(251)} (2)`);
  });

  it('closes the older socket of an agent that connects twice, and ignores its end', () => {
    const [first, second] = [new RecordingLink(), new RecordingLink()];
    registry.join(helloOf('a'), first);
    registry.join(helloOf('a'), second);
    expect(first.closed).toHaveLength(1);
    registry.disconnected('a', first);
    expect(registry.rooms()[0]?.freeSlots).toBe(2);
  });

  it('offers extra slots to rests of the run that an agent carries, and to nothing else', () => {
    const link = new RecordingLink();
    const restRoom = (runId: string) => {
      const { freeSlots, shards, freeExtraSlots } = registry.restRooms(runId)[0] ?? {};
      return { freeSlots, shards, freeExtraSlots };
    };
    registry.join({ ...helloOf('a'), extraSlots: 2 }, link);
    expect(restRoom('r')).toEqual({ freeSlots: 2, shards: 0, freeExtraSlots: 2 });
    for (const shardIndex of [0, 1, 2]) registry.reserve('a', { runId: 'r', shardIndex, attempt: 1 });
    expect(registry.rooms()).toEqual([{ agentId: 'a', slots: 2, freeSlots: 0, labels: {} }]);
    expect(registry.summaries()[0]?.freeSlots).toBe(0);
    expect(restRoom('r')).toEqual({ freeSlots: 0, shards: 3, freeExtraSlots: 1 });
    expect(restRoom('other').freeExtraSlots).toBe(0);
    registry.disconnected('a', link);
    expect(restRoom('r').freeExtraSlots).toBe(0);
    registry.setDraining('a');
    expect(registry.restRooms('r')).toEqual([]);
  });

  it('believes no agent that wants more extra slots than it may have, and one that names none', () => {
    registry.join({ ...helloOf('a'), extraSlots: 1_000 }, new RecordingLink());
    registry.join(helloOf('b'), new RecordingLink());
    expect(registry.restRooms('r').map((room) => room.freeExtraSlots)).toEqual([2, 0]);
  });

  it('knows which attempts came when all slots were given out, as long as the earlier ones hold theirs', () => {
    registry.join({ ...helloOf('a'), extraSlots: 2 }, new RecordingLink());
    const [first, second, extra] = [0, 1, 2].map((shardIndex) => ({ ...attempt, shardIndex }));
    for (const each of [first, second, extra]) if (each !== undefined) registry.reserve('a', each);
    const isExtra = (each: typeof first): boolean => each !== undefined && registry.isExtra('a', each);
    expect([first, second, extra].map(isExtra)).toEqual([false, false, true]);
    if (first !== undefined) registry.release('a', first);
    expect(isExtra(extra)).toBe(false);
    expect(registry.isExtra('a', attempt)).toBe(false);
    expect(registry.isExtra('nobody', attempt)).toBe(false);
  });

  it('offers no slot of an agent that is leaving, and forgets it when it has gone', () => {
    const link = new RecordingLink();
    registry.join(helloOf('a'), link);
    registry.setDraining('a');
    expect(registry.rooms()).toEqual([]);
    registry.disconnected('a', link);
    expect(registry.takeLost(undefined, limits)).toMatchObject([{ id: 'a', sign: 'left' }]);
  });
});

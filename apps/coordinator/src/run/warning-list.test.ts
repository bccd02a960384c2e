import { describe, expect, it } from 'vitest';
import { WarningList } from './warning-list.js';

const slots = (count: number): string =>
  `${count} slots share 2 CPUs: they take time from each other; lower the slots to 2`;

function listOf(...warnings: readonly (readonly [string, string])[]): string[] {
  const list = new WarningList();
  for (const [agent, warning] of warnings) list.add(agent, warning);
  return list.list();
}

describe('warnings of a run', () => {
  it('are one for all shards of an agent, with the number of all together, in whatever order they come', () => {
    const counts = [3, 8, 7, 4, 6, 5];
    expect(listOf(...counts.map((count) => ['a1', slots(count)] as const))).toEqual([`a1: ${slots(8)}`]);
  });

  it('add the connections up', () => {
    const opened = (count: string): string => `${count} connections are opened at once (somaxconn 4,096)`;
    expect(listOf(['a1', opened('25,000')], ['a1', opened('12,500')])).toEqual([`a1: ${opened('25,000')}`]);
    expect(listOf(['a1', opened('9,500')], ['a1', opened('12,500')])).toEqual([`a1: ${opened('12,500')}`]);
  });

  it('compare sizes by their units', () => {
    const memory = (size: string): string => `about ${size} of memory are needed and 100MiB are free`;
    expect(listOf(['a1', memory('900MiB')], ['a1', memory('1.2GiB')])).toEqual([`a1: ${memory('1.2GiB')}`]);
  });

  it('know singular and plural of one sentence', () => {
    const quota = (words: string): string => `the control group allows 0.5 CPUs and ${words} as many`;
    expect(listOf(['a1', quota('1 slot wants')], ['a1', quota('2 slots want')])).toEqual([
      `a1: ${quota('2 slots want')}`,
    ]);
  });

  it('stay apart for other agents and other sentences, whatever numbers are in the names', () => {
    const two = [
      ['load-1', slots(3)],
      ['load-2', slots(3)],
      ['load-2', 'the CPU governor is "powersave"'],
    ] as const;
    expect(listOf(...two)).toHaveLength(3);
  });

  it('are at most as many as a live message holds', () => {
    expect(listOf(...Array.from({ length: 100 }, (_, i) => [`a${i}`, slots(3)] as const))).toHaveLength(32);
  });
});

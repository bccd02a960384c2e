import { expect, it } from 'vitest';
import { COMMAND, ShardControl } from './shard-control.js';

it('shows orders to another thread that looks at the same memory', () => {
  const host = new ShardControl();
  const engine = new ShardControl(host.memory);
  expect([engine.command, engine.referenceBytes]).toEqual([COMMAND.none, -1]);
  host.probe();
  expect(engine.command).toBe(COMMAND.probe);
  host.start(1.7e15 + 0.25, 42);
  expect([engine.command, engine.startAtUs, engine.referenceBytes]).toEqual([
    COMMAND.start,
    1.7e15 + 0.25,
    42,
  ]);
});

it('compares no lengths unless a reference is given', () => {
  const control = new ShardControl();
  control.start(5);
  expect(control.referenceBytes).toBe(-1);
});

it('tells when the load begins: never before the start instant', () => {
  const control = new ShardControl();
  control.start(5_000);
  expect(control.fromUs).toBe(5_000);
  control.start(5_000, -1, 7_000);
  expect([control.startAtUs, control.fromUs]).toEqual([5_000, 7_000]);
  control.start(5_000, -1, 3_000);
  expect(control.fromUs).toBe(5_000);
});

it('tells when to stop, and heeds the earliest of several orders', () => {
  const control = new ShardControl();
  control.start(5);
  control.stop(2_000);
  expect([control.command, control.stopAtUs]).toEqual([COMMAND.stop, 2_000]);
  control.stop(3_000);
  expect(control.stopAtUs).toBe(2_000);
  control.stop();
  expect(control.stopAtUs).toBe(0);
});

it('lets nothing follow a stop, and no probe follow a start', () => {
  const stopped = new ShardControl();
  stopped.stop();
  stopped.start(5);
  stopped.probe();
  expect(stopped.command).toBe(COMMAND.stop);
  const started = new ShardControl();
  started.start(5);
  started.probe();
  expect(started.command).toBe(COMMAND.start);
});

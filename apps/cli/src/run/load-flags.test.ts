import { describe, expect, it } from 'vitest';
import { readRunRequest } from './run-flags.js';

async function planOf(...words: string[]) {
  const request = await readRunRequest([...words, 'http://h/']);
  if (request === 'help') throw new Error('help instead of a plan');
  return request.plan;
}

describe('load flags of run', () => {
  it('reach the plan', async () => {
    const words = ['-r', '0.5', '--arrivals', 'poisson', '--seed', '7', '--warmup', '5s', '--pipeline', '4'];
    expect(await planOf(...words, '--retry-idempotent')).toMatchObject({
      rate: 0.5,
      arrivals: 'poisson',
      seed: 7,
      warmupMs: 5_000,
      pipeline: 4,
      retryIdempotent: true,
      durationMs: 10_000,
    });
  });

  it.each([
    ['1e6', 1_000_000],
    ['1E-9', 1e-9],
    ['0.000001', 1e-6],
  ])('take the rate %s as the field of a plan does', async (text, rate) => {
    expect(await planOf('-r', text)).toMatchObject({ rate });
  });

  it('make stages of a rate, or of connections, whose times are the duration', async () => {
    expect(await planOf('--stage', '30s:1000', '--stage', '1m:1000', '--stage', '500ms:0.5')).toMatchObject({
      stages: [
        { durationMs: 30_000, rate: 1_000 },
        { durationMs: 60_000, rate: 1_000 },
        { durationMs: 500, rate: 0.5 },
      ],
      durationMs: 90_500,
      connections: 10,
    });
    const inConnections = await planOf('--stage', '10s:50c', '--stage', '5s:0c');
    expect(inConnections).toMatchObject({ connections: 50, durationMs: 15_000 });
    expect(inConnections.stages?.[0]).toEqual({ durationMs: 10_000, connections: 50 });
  });

  it.each([
    [['-r', '-5'], /^run: flag -r needs a value/],
    [['-r', '1e99'], /^--rate: must be at most \d+$/],
    [['--stage', '1s:1e'], /^--stage "1s:1e": must be a duration and a value/],
    [['-r', 'fast'], /^--rate: must be a number of requests per second$/],
    [['-r', '0'], /^--rate: must be above 0$/],
    [['--arrivals', 'random', '-r', '1'], /^--arrivals: must be constant or poisson$/],
    [['--arrivals', 'poisson'], /^--arrivals: needs a rate$/],
    [['--seed', '1'], /^--seed: needs a rate$/],
    [['--arrivals', 'poisson', '--seed', '1'], /^--arrivals: needs a rate; --seed: needs a rate$/],
    [['--seed', '-1', '-r', '1'], /^run: .*seed/],
    [['--stage', '30s'], /^--stage "30s": must be a duration and a value, like 30s:1000/],
    [['--stage', 'x:5'], /^--stage: must be a duration/],
    [['--stage', '1s:5', '--stage', '1s:5c'], /^--stage: must be all in rate or all in connections$/],
    [['--stage', '1s:0'], /^--stage: at least one stage must have a rate above 0$/],
    [['--stage', '1s:5', '-d', '5s'], /^--stage: take 1s together: give no other duration$/],
    [['--stage', '1s:5c', '-c', '4'], /^--stage: give no --connections beside stages of connections/],
    [['--warmup', '1500ms'], /^--warmup: must be whole seconds$/],
    [['--warmup', '1s', '--stage', '5s:10'], /^--warmup: needs a rate beside stages/],
    [['--warmup', '1s', '--stage', '5s:10c'], /^--warmup: cannot be used with stages of connections/],
    [['--pipeline', '0'], /^--pipeline: must be at least 1$/],
    [
      ['--pipeline', '2', '--no-keep-alive'],
      /^--pipeline: needs connections that are kept alive: see --no-keep-alive$/,
    ],
    [['--stage', '1s:5c', '-n', '2'], /^--stage: 5 connections are more than 2 requests$/],
  ])('%j is refused with one line', async (words, line) => {
    await expect(planOf(...words)).rejects.toThrow(line);
    await expect(planOf(...words)).rejects.toMatchObject({ exitCode: 2 });
  });
});

import { cpus } from 'node:os';
import { describe, expect, it } from 'vitest';
import { broadside, startTarget } from './broadside.js';

const URL = 'http://127.0.0.1:9/';

describe('broadside doctor', () => {
  it('prints the environment block of this machine, and that nothing is wrong with the machine alone', async () => {
    const { exitCode, stdout } = await broadside(['doctor']);
    expect(exitCode).toBe(0);
    for (const label of ['CPU', 'CPU security patches', 'RAM', 'OS', 'File descriptors', 'Versions']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${label} `, 'm'));
    }
    expect(stdout).toContain(`Node ${process.version}`);
  });

  it('ends with 1 and says why when this machine could not carry the load', async () => {
    const { exitCode, stdout } = await broadside(['doctor', '-c', '999999', URL]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^cannot work: 999,999 connections need .* file descriptors/m);
    expect(stdout).toContain('This load cannot be carried by this machine.');
  });

  it('refuses a name that leads nowhere', async () => {
    const { exitCode, stdout } = await broadside(['doctor', 'http://no-such-host.invalid/']);
    expect(exitCode).toBe(1);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /cannot work: the name no-such-host\.invalid leads to no address/,
    );
  });

  it('gives everything as JSON', async () => {
    const { exitCode, stdout } = await broadside(['doctor', '--json', '-c', '4', '--slots', '2', URL]);
    expect(exitCode).toBe(0);
    const parsed: unknown = JSON.parse(stdout);
    expect(parsed).toMatchObject({
      canWork: true,
      refusals: [],
      slots: 2,
      addresses: ['127.0.0.1'],
      machine: { node: process.version, cpus: cpus().length },
    });
    expect(stdout).toContain('client and target share this machine');
    expect(stdout).toMatch(/"transport": \{\s+"name": "(io_uring|epoll|socket)"/);
  });

  it.each([
    [['-c', '5'], /^broadside: doctor: --connections needs the URL of a target\n$/],
    [['-c', 'many', URL], /^broadside: doctor: --connections: must be a whole number\n$/],
    [['--slots', '0', URL], /^broadside: --slots "0": must be a whole number/],
    [['ftp://x/'], /^broadside: doctor: URL: the address must begin with http/],
    [[URL, URL], /^broadside: doctor: give one URL, not 2\n$/],
  ])('refuses %j in one line', async (words, expected) => {
    const { exitCode, stdout, stderr } = await broadside(['doctor', ...words]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(expected);
  });
});

describe('a load that is doubtful on this machine', () => {
  it('is warned about when it begins, and in the report', async () => {
    const target = await startTarget();
    const slots = String(cpus().length + 1);
    const words = ['run', '-q', '--slots', slots, '-c', slots, '-n', '100', '--json', '-', target.url];
    const { exitCode, stdout, stderr } = await broadside(words);
    await target.process.stop();
    expect(exitCode).toBe(0);
    const warning = `: ${slots} slots share ${cpus().length} CPUs: they take time from each other`;
    expect(stderr).toMatch(new RegExp(`^broadside: warning: .*${warning}`, 'm'));
    expect(JSON.parse(stdout)).toMatchObject({ warnings: [expect.stringContaining(warning)] });
  });
});

describe('a load that this machine cannot carry', () => {
  it('is refused before anything is sent, in one line', async () => {
    const { exitCode, stderr, stdout } = await broadside(['run', '-q', '-c', '999999', '-d', '1s', URL]);
    expect(exitCode).toBe(4);
    expect(`${stdout}${stderr}`.replace(/\s+/g, ' ')).toContain('file descriptors and this process may open');
  });
});

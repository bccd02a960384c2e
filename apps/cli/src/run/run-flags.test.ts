import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CliError } from '../cli-error.js';
import { type RunRequest, readRunRequest } from './run-flags.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'broadside-flags-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function requestOf(...words: string[]): Promise<RunRequest> {
  const request = await readRunRequest(words);
  if (request === 'help') throw new Error('help');
  return request;
}

async function refusalOf(...words: string[]): Promise<CliError> {
  const refusal = await readRunRequest(words).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refusal instanceof CliError)) throw new Error(`no refusal: ${String(refusal)}`);
  return refusal;
}

async function planFile(text: string): Promise<string> {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.yaml`);
  await writeFile(path, text);
  return path;
}

describe('flags of run', () => {
  it('make a plan with the defaults of the schema', async () => {
    const { plan, quiet } = await requestOf('http://h/');
    expect(plan).toMatchObject({
      target: 'http://h/',
      connections: 10,
      durationMs: 10_000,
      httpVersion: '1.1',
      keepAlive: true,
    });
    expect(quiet).toBe(false);
  });

  it('choose agents by their labels, and bound the wait for them', async () => {
    const { plan } = await requestOf('--on', 'zone=eu', '--on', 'disk=fast', '--max-wait', '5m', 'http://h/');
    expect(plan).toMatchObject({ on: { zone: 'eu', disk: 'fast' }, maxWaitMs: 300_000 });
    expect((await refusalOf('--on', 'zone', 'http://h/')).message).toBe(
      '--on "zone": must be name=value, like zone=eu',
    );
    expect((await refusalOf('--max-wait', 'long', 'http://h/')).message).toMatch(
      /^--max-wait: must be a duration/,
    );
  });

  it('reach every field, short and long', async () => {
    const words = [
      '-n',
      '500',
      '-c',
      '5',
      '-d',
      '1m30s',
      '-H',
      'A: 1',
      '-H',
      'B: 2',
      '--method',
      'PUT',
      '--body',
      'x',
      '-q',
    ];
    const more = [
      '--timeout',
      '2s',
      '--http-version',
      '1.0',
      '--no-keep-alive',
      '--slots',
      '2',
      '--name',
      'n',
      '--json',
      'f',
    ];
    const request = await requestOf(
      ...words,
      ...more,
      '--coordinator',
      'http://c',
      '--token',
      't',
      'http://h/',
    );
    expect(request).toMatchObject({ quiet: true, jsonFile: 'f', coordinatorUrl: 'http://c', token: 't' });
    expect(request.plan).toMatchObject({
      requests: 500,
      connections: 5,
      durationMs: 90_000,
      headers: ['A: 1', 'B: 2'],
      method: 'PUT',
      body: 'x',
      timeoutMs: 2_000,
      httpVersion: '1.0',
      keepAlive: false,
      slots: 2,
      name: 'n',
    });
  });

  it('win over the plan file, in either spelling, and add to its headers', async () => {
    const path = await planFile(
      'target: http://h/\ndurationMs: 5000\nbodyBase64: eA==\nheaders: {A: 1}\nconnections: 3\n',
    );
    const { plan } = await requestOf('-d', '7s', '--body', 'y', '-H', 'B: 2', path);
    expect(plan).toMatchObject({ durationMs: 7_000, body: 'y', headers: ['A: 1', 'B: 2'], connections: 3 });
    expect(plan.bodyBase64).toBeUndefined();
  });

  it('take the body from a file, byte for byte', async () => {
    const path = join(folder, 'body.bin');
    await writeFile(path, Buffer.from([0, 255, 10]));
    expect((await requestOf('--body-file', path, 'http://h/')).plan.bodyBase64).toBe('AP8K');
  });
});

describe('mistakes of run', () => {
  it.each([
    [['-n', 'abc', 'http://h/'], /^--requests: /],
    [['-c', '0', 'http://h/'], /^--connections: .*at least 1/],
    [['-c', '5', '-n', '2', 'http://h/'], /^--connections: 5 connections are more than 2 requests/],
    [['-d', 'soon', 'http://h/'], /^--duration: must be a duration/],
    [['--http-version', '3', 'http://h/'], /^--http-version: /],
    [['ftp://h/'], /^URL: the address must begin with http/],
    [['--insecure', 'http://h/'], /^--insecure: needs an https target$/],
    [['--tls-min', '1.3', '--tls-max', '1.2', 'https://h/'], /^--tls-min: is above --tls-max TLSv1\.2$/],
    [['--tls-max', '2', 'https://h/'], /^--tls-max: must be one of TLSv1, /],
    [['--proxy', 'socks5://h', 'http://h/'], /^--proxy: the address must begin with http/],
    [['--proxy', 'http://u:p@h', 'http://h/'], /^--proxy: must not hold a user name or password/],
    [['--proxy-user', 'u:p', 'http://h/'], /^--proxy-user: needs a proxy/],
    [['--user', 'nobody', 'http://h/'], /^--user: must be name:password/],
    [['--bind', '127.0.0.2,lo', 'http://h/'], /^--bind: must be an IPv4 or IPv6 address/],
    [['--unix-socket', 'a.sock', 'http://h/'], /^--unix-socket: must be an absolute path/],
    [['--unix-socket', '/a', '--proxy', 'h', 'http://h/'], /^--unix-socket: cannot be used with --proxy$/],
    [['--unix-socket', '/a', '--connect-to', 'h', 'http://h/'], /^--unix-socket: .* with --connect-to$/],
    [['--connect-to', 'h', '--proxy', 'h', 'http://h/'], /^--connect-to: cannot be used with --proxy$/],
    [['--resume-sessions', '--ciphers', 'A', 'http://h/'], /^--ciphers: needs an https target$/],
    [['--no-server-name', 'http://h/'], /^--no-server-name: needs an https target$/],
    [['--cookie', 'a\nb', 'http://h/'], /^--cookie: a header line must not hold a line break$/],
    [['--connect-to', 'http://h/', 'http://h/'], /^--connect-to: must be host\[:port\]/],
    [['--addresses', 'all', 'http://h/'], /^--addresses: must be first or spread/],
    [['--connect-timeout', '0', 'http://h/'], /^--connect-timeout: must be a duration/],
    [['--socket-buffer', '4k', 'http://h/'], /^--socket-buffer: must be a whole number/],
    [[], /^run: give one URL or one plan file/],
    [['http://a/', 'http://b/'], /^run: give one URL or one plan file, not 2/],
    [['--conections', '5', 'http://h/'], /^run: unknown flag --conections; did you mean --connections\?/],
    [['-x', 'http://h/'], /^run: unknown flag -x; see /],
    [['-n'], /^run: flag -n needs a value/],
    [['--quiet=yes', 'http://h/'], /^run: flag -q takes no value/],
    [['--body', 'a', '--body-file', 'b', 'http://h/'], /^give --body or --body-file, not both/],
  ])('%j gives one line and exit code 2', async (words, line) => {
    const refusal = await refusalOf(...words);
    expect(refusal.message).toMatch(line);
    expect(refusal.message).not.toContain('\n');
    expect(refusal.exitCode).toBe(2);
  });

  it('come all at once, with the lines of the plan file', async () => {
    const path = await planFile('target: http://h/\nconnections: 0\nfoo: 1\nduration: 5x\n');
    const { message } = await refusalOf(path);
    expect(message).toMatch(/\.yaml:2:1: connections: /);
    expect(message).toContain('; 3:1: foo: unknown field');
    expect(message).toContain('; 4:1: duration: ');
  });

  it('names fields that the file gave as the file does, and flags as flags', async () => {
    const path = await planFile('target: http://h/\npipeline: 4\nproxy: p\nwarmupMs: 1500\n');
    const { message } = await refusalOf('--no-keep-alive', '--connect-to', 'h', path);
    expect(message).toContain(': --connect-to: cannot be used with proxy; ');
    expect(message).toContain('2:1: pipeline: needs connections that are kept alive: see --no-keep-alive');
    expect(message).toContain('4:1: warmupMs: must be whole seconds');
    const other = await planFile(
      'target: http://h/\nkeepAlive: false\nconnectTo: h\ntls: {maxVersion: TLSv1.2}\n',
    );
    const refusal = await refusalOf('--pipeline', '4', '--proxy', 'p', '--tls-min', '1.3', other);
    expect(refusal.message).toContain(' --pipeline: needs connections that are kept alive: see keepAlive; ');
    expect(refusal.message).toContain(' --tls-min: is above tls.maxVersion TLSv1.2; ');
    expect(refusal.message).toContain(' 3:1: connectTo: cannot be used with --proxy');
  });

  it('say which of two files is missing by the name of its flag', async () => {
    const cert = join(folder, 'cert.pem');
    await writeFile(cert, rootCertificates[0] ?? '');
    expect((await refusalOf('--cert', cert, 'https://h/')).message).toBe(
      '--key: is missing: --cert and --key go together',
    );
  });

  it('of files have exit code 6', async () => {
    expect(await refusalOf(join(folder, 'missing.yaml'))).toMatchObject({ exitCode: 6 });
    expect(await refusalOf('--body-file', '/dev/zero', 'http://h/')).toMatchObject({ exitCode: 6 });
    expect((await refusalOf('--body-file', folder, 'http://h/')).message).toMatch(/it is a folder/);
  });
});

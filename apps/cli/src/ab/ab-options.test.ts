import { describe, expect, it } from 'vitest';
import { atoi } from './ab-arguments.js';
import { type AbOptions, parseAbCommandLine } from './ab-options.js';

const URL = 'http://127.0.0.1:8080/';

function optionsOf(...words: string[]): AbOptions {
  const commandLine = parseAbCommandLine(words);
  if (commandLine.kind !== 'run') throw new Error(`not a run: ${JSON.stringify(commandLine)}`);
  return commandLine.options;
}

function mistakeOf(...words: string[]): { text: string; exitCode: number } {
  const commandLine = parseAbCommandLine(words);
  if (commandLine.kind !== 'mistake') throw new Error(`no mistake: ${JSON.stringify(commandLine)}`);
  return commandLine;
}

describe('numbers', () => {
  it.each([
    ['10', 10],
    ['1e3', 1],
    ['abc', 0],
    ['', 0],
    ['  7x', 7],
    ['+5', 5],
    ['-3', -3],
    ['- 3', 0],
    ['0x10', 0],
  ])('reads %j as C does: %d', (text, value) => {
    expect(atoi(text)).toBe(value);
  });
});

describe('option scanning', () => {
  it('sends one request on one connection without any option', () => {
    expect(optionsOf(URL)).toMatchObject({
      requests: 1,
      concurrency: 1,
      timeoutS: 30,
      method: 'GET',
      url: URL,
    });
  });

  it('takes clusters with an attached value at their end', () => {
    expect(optionsOf('-kqn50', '-c5', URL)).toMatchObject({
      keepAlive: true,
      quiet: true,
      requests: 50,
      concurrency: 5,
    });
  });

  it('takes a value that begins with a dash', () => {
    expect(optionsOf('-H', '-X: 1', URL).headerLines).toEqual(['-X: 1']);
  });

  it('ends the options at two dashes', () => {
    expect(optionsOf('-k', '--', URL)).toMatchObject({ keepAlive: true, url: URL });
  });

  it('does not look for options after the URL', () => {
    expect(mistakeOf(URL, '-n', '2')).toEqual({
      kind: 'mistake',
      text: 'ab: wrong number of arguments',
      exitCode: 22,
    });
  });

  it('takes its own long options among the short ones, attached or apart', () => {
    expect(
      optionsOf('--agents-at', 'http://c:7070', '-n', '5', '--slots=2', '--json=-', '--token', 't', URL),
    ).toMatchObject({
      coordinatorUrl: 'http://c:7070',
      requests: 5,
      slots: '2',
      jsonFile: '-',
      token: 't',
    });
  });

  it('takes how failed requests are counted, and nothing it does not know', () => {
    expect(optionsOf(URL).counting).toBe('once');
    expect(optionsOf('--ab-counting', 'trunk', URL).counting).toBe('trunk');
    expect(mistakeOf('--ab-counting', 'twice', URL)).toMatchObject({
      text: 'ab: invalid --ab-counting twice: give once, classic, trunk',
      exitCode: 22,
    });
  });

  it('stops at -V and at -h, whatever follows', () => {
    expect(parseAbCommandLine(['-k', '-V', '-n', 'abc']).kind).toBe('version');
    expect(mistakeOf('-h', '-n', 'abc')).toEqual({ kind: 'mistake', text: '', exitCode: 22 });
    expect(parseAbCommandLine(['--help']).kind).toBe('help');
  });
});

describe('mistakes, with the text and the exit code of ab', () => {
  it.each([
    [['-n', 'abc', URL], 'Invalid number of requests\n', 1],
    [['-n', '0', URL], 'Invalid number of requests\n', 1],
    [['-n', '-5', URL], 'Invalid number of requests\n', 1],
    [
      ['-c', '5', '-n', '2', URL],
      'ab: Cannot use concurrency level greater than total number of requests',
      22,
    ],
    [['-c', '2', URL], 'ab: Cannot use concurrency level greater than total number of requests', 22],
    [['-c', '-4', URL], 'ab: Invalid Concurrency [Range 0..200000]', 22],
    [['-n', '300000', '-c', '200001', URL], 'ab: Invalid Concurrency [Range 0..200000]', 22],
    [['-Y', '-n', '2', URL], 'ab: illegal option -- Y', 22],
    [['-n', '2', '-Y', URL], 'ab: illegal option -- Y', 22],
    [['-k:', URL], 'ab: illegal option -- :', 22],
    [['-n'], 'ab: option requires an argument -- n', 22],
    [['-kn'], 'ab: option requires an argument -- n', 22],
    [['--slots'], 'ab: option requires an argument -- -slots', 22],
    [['--slots=', URL], 'ab: option requires an argument -- -slots', 22],
    [['--slot', '2', URL], 'ab: illegal option --slot; did you mean --slots?', 22],
    [['-n', '2'], 'ab: wrong number of arguments', 22],
    [['-n', '2', URL, URL], 'ab: wrong number of arguments', 22],
    [['-i', '-p', 'f', URL], 'Cannot mix POST with other methods\n', 1],
    [['-i', '-u', 'f', URL], 'Cannot mix PUT with other methods\n', 1],
    [['-p', 'f', '-i', URL], 'Cannot mix HEAD with other methods\n', 1],
    [['-i', '-i', URL], 'Cannot mix HEAD with other methods\n', 1],
    [['-m', 'X', '-p', 'f', URL], 'Cannot mix POST with other methods\n', 1],
    [['-A', 'a'.repeat(766), URL], 'Authentication credentials too long\n', 1],
    [['-s', '0', URL], 'ab: invalid timeout -s 0: give whole seconds, at least 1', 22],
    [['-t', '-1', URL], 'ab: invalid time limit -t -1: give whole seconds', 22],
    [['-f', 'ssl3', URL], 'ab: -f SSL3: SSL 3 is not supported by any TLS library of today', 22],
    [['-b', '-5', URL], 'ab: invalid buffer size -b -5: give bytes', 22],
    [
      ['-X', 'u:p@h', URL],
      'ab: invalid proxy -X u:p@h: must not hold a user name or password; use proxyUser',
      22,
    ],
    [['-X', 'https://h', URL], 'ab: invalid proxy -X https://h: proxies are spoken to by http:// only', 22],
    [['-P', `u:${'p'.repeat(800)}`, URL], 'Authentication credentials too long\n', 1],
  ])('%j', (words, text, exitCode) => {
    expect(mistakeOf(...words)).toEqual({ kind: 'mistake', text, exitCode });
  });

  it.each([
    ['http://127.0.0.1:8080', /needs a path/],
    ['127.0.0.1:8080', /needs a path/],
    ['http://h?x=/', /needs a path/],
    ['HTTP://h/', /must begin with http/],
    ['ftp://h/', /must begin with http/],
    ['http://u:p@h/', /user name/],
    ['http://h/a b', /blank/],
    ['http://h:65536/', /65535/],
    ['', /address/],
  ])('refuses the URL %j', (url, reason) => {
    const { text, exitCode } = mistakeOf(url);
    expect(text).toMatch(/^ab: invalid URL: /);
    expect(text).toMatch(reason);
    expect(exitCode).toBe(22);
  });
});

describe('what Broadside does better than ab, and says so', () => {
  it('takes -c 0 as one connection', () => {
    const options = optionsOf('-n', '2', '-c', '0', URL);
    expect(options.concurrency).toBe(1);
    expect(options.notes).toEqual(['-c 0 is taken as -c 1']);
  });

  it('runs -t alone by time, without the limit of 50000 requests', () => {
    expect(optionsOf('-t', '5', '-c', '100', URL)).toMatchObject({
      requests: undefined,
      timeLimitS: 5,
      notes: [],
    });
  });

  it('takes -n and -t together in any order, and notes where ab would have differed', () => {
    expect(optionsOf('-t', '5', '-n', '10', URL)).toMatchObject({ requests: 10, timeLimitS: 5, notes: [] });
    const options = optionsOf('-n', '10', '-t', '5', URL);
    expect(options).toMatchObject({ requests: 10, timeLimitS: 5 });
    expect(options.notes).toHaveLength(1);
  });

  it('takes -t 0 as no limit', () => {
    expect(optionsOf('-t', '0', URL)).toMatchObject({ requests: 1, timeLimitS: undefined });
  });
});

describe('methods', () => {
  it('sends the method of -m, with the body of a -p before it', () => {
    expect(optionsOf('-p', 'f', '-m', 'PATCH', URL)).toMatchObject({ method: 'PATCH', bodyFile: 'f' });
    expect(optionsOf('-i', URL).method).toBe('HEAD');
    expect(optionsOf('-u', 'f', URL)).toMatchObject({ method: 'PUT', bodyFile: 'f' });
  });
});

describe('connections', () => {
  it.each([
    ['ALL', undefined],
    ['all', undefined],
    ['TLS1', 'TLSv1'],
    ['tls1x', 'TLSv1'],
    ['TLS1.1', 'TLSv1.1'],
    ['TLS1.2', 'TLSv1.2'],
    ['tls1.3 and more', 'TLSv1.3'],
    ['bogus', undefined],
    ['TLS1.4', 'TLSv1'],
  ])('takes -f %s by its beginning: %s', (word, tlsVersion) => {
    expect(optionsOf('-f', word, URL).tlsVersion).toBe(tlsVersion);
  });

  it('takes proxy, local address, buffer size, ciphers, certificate, and no server name', () => {
    const words = ['-X', 'p:81', '-B', '127.0.0.2', '-b', '4096', '-Z', 'HIGH', '-E', 'f', '-I'];
    expect(optionsOf(...words, URL)).toMatchObject({
      proxy: 'p:81',
      bind: '127.0.0.2',
      socketBufferBytes: 4_096,
      ciphers: 'HIGH',
      certificateFile: 'f',
      sendsServerName: false,
    });
  });

  it('keeps the order of -A and -P for the wire', () => {
    expect(optionsOf('-P', 'a:b', '-A', 'c:d', URL).authorizationLines).toEqual([
      'Proxy-Authorization: Basic YTpi',
      'Authorization: Basic Yzpk',
    ]);
  });

  it('leaves the buffers to the system at -b 0', () => {
    expect(optionsOf('-b', '0', URL).socketBufferBytes).toBeUndefined();
  });
});

describe('HTML report', () => {
  it('is asked for by each of its options, with white cells unless told otherwise', () => {
    expect(optionsOf('-w', URL).html).toEqual({ table: '', row: '', cell: 'bgcolor=white' });
    expect(optionsOf('-x', 'a', '-y', 'b', '-z', 'c', '-w', URL).html).toEqual({
      table: 'a',
      row: 'b',
      cell: 'c',
    });
    expect(optionsOf(URL).html).toBeUndefined();
  });

  it('changes the banner of -V only where it stands before', () => {
    expect(parseAbCommandLine(['-w', '-V'])).toEqual({ kind: 'version', isHtml: true });
    expect(parseAbCommandLine(['-V', '-w'])).toEqual({ kind: 'version', isHtml: false });
  });
});

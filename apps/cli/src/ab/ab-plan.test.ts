import { requestHeaderLines, splitPlan } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type AbOptions, parseAbCommandLine } from './ab-options.js';
import { describeAbProblems, planOfAb } from './ab-plan.js';

function optionsOf(...words: string[]): AbOptions {
  const commandLine = parseAbCommandLine(words);
  if (commandLine.kind !== 'run') throw new Error(`not a run: ${JSON.stringify(commandLine)}`);
  return commandLine.options;
}

/** The request as the shard carries it to the engine. */
function requestOf(words: string[], body?: string): string {
  const parsed = planOfAb(optionsOf(...words), body === undefined ? undefined : Buffer.from(body));
  if (!parsed.ok) throw new Error(describeAbProblems(parsed));
  const [shard] = splitPlan(parsed.plan, 'run', 1);
  if (shard === undefined) throw new Error('a plan has at least one shard');
  const { method, httpVersion, headerLines, bodyBase64, requestTarget } = shard.request;
  const bodyText = Buffer.from(bodyBase64 ?? '', 'base64').toString('utf8');
  const target = requestTarget ?? shard.target.path;
  return `${[`${method} ${target} HTTP/${httpVersion}`, ...headerLines, '', ''].join('\r\n')}${bodyText}`;
}

describe('request bytes', () => {
  // Expected bytes as captured from ab itself.
  it('sends the plain request of ab', () => {
    expect(requestOf(['http://127.0.0.1:19001/a/b?c=d'])).toBe(
      'GET /a/b?c=d HTTP/1.0\r\nHost: 127.0.0.1:19001\r\nUser-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n',
    );
  });

  it('asks for keep-alive in the first header line', () => {
    expect(requestOf(['-k', 'http://127.0.0.1:19001/'])).toBe(
      'GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:19001\r\n' +
        'User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n',
    );
  });

  it('puts cookie, authorization, body lines and own headers in the order of ab', () => {
    const words = ['-k', '-C', 'a=b', '-A', 'u:p', '-p', 'f', '-T', 'application/json', '-H', 'X-Z: 9'];
    expect(requestOf([...words, 'http://127.0.0.1:19001/'], 'a=1&b=2')).toBe(
      'POST / HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: a=b\r\nAuthorization: Basic dTpw\r\n' +
        'Content-length: 7\r\nContent-type: application/json\r\nX-Z: 9\r\nHost: 127.0.0.1:19001\r\n' +
        'User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\na=1&b=2',
    );
  });

  it('joins repeated cookies, where ab would send only the last', () => {
    expect(requestOf(['-C', 'a=1', '-C', 'b=2', 'http://h/'])).toContain('\r\nCookie: a=1; b=2\r\n');
  });

  it('leaves out its own Host, User-Agent and Accept where -H gives them in any case', () => {
    const request = requestOf(['-H', 'hOsT: x', '-H', 'user-agent: y', '-H', 'ACCEPT: z', 'http://h/']);
    expect(request).toBe('GET / HTTP/1.0\r\nhOsT: x\r\nuser-agent: y\r\nACCEPT: z\r\n\r\n');
  });

  it('keeps its own line beside a header whose name only begins alike', () => {
    expect(requestOf(['-H', 'Accept-Encoding: gzip', 'http://h/'])).toContain('Accept: */*');
  });

  it('sends both content types when -H repeats it, as ab does', () => {
    const request = requestOf(['-p', 'f', '-H', 'Content-Type: x/y', 'http://h/'], 'b');
    expect(request).toContain('Content-type: text/plain\r\nContent-Type: x/y\r\n');
  });

  it('states the length of an empty body', () => {
    expect(requestOf(['-u', 'f', 'http://h/'], '')).toContain('\r\nContent-length: 0\r\n');
  });

  it('leaves the port out of Host where it is the usual one, and brackets IPv6 addresses', () => {
    expect(requestOf(['http://h:80/'])).toContain('\r\nHost: h\r\n');
    expect(requestOf(['http://[::1]:81/'])).toContain('\r\nHost: [::1]:81\r\n');
  });

  it('never sends the fragment', () => {
    expect(requestOf(['http://h/a?b#c'])).toMatch(/^GET \/a\?b HTTP\/1\.0\r\n/);
  });
});

describe('plan', () => {
  it('carries what the options mean', () => {
    const parsed = planOfAb(
      optionsOf('-n', '10', '-c', '3', '-t', '7', '-s', '4', '-l', '-r', '--slots', '2', 'http://h/'),
      undefined,
    );
    expect(parsed).toMatchObject({
      ok: true,
      plan: {
        requests: 10,
        connections: 3,
        durationMs: 7_000,
        timeoutMs: 4_000,
        checkLength: false,
        failOnStatus: false,
        onSocketError: 'continue',
        probe: true,
        keepAlive: false,
        slots: 2,
        exactHeaders: true,
      },
    });
  });

  it('compares lengths and stops at a socket error unless told otherwise', () => {
    const parsed = planOfAb(optionsOf('http://h/'), undefined);
    expect(parsed).toMatchObject({ ok: true, plan: { checkLength: true, onSocketError: 'stop' } });
  });

  it('adds nothing to the header lines of the plan', () => {
    const parsed = planOfAb(optionsOf('-k', 'http://h/'), undefined);
    if (!parsed.ok) throw new Error('valid');
    const target = { scheme: 'http', host: 'h', port: 80, path: '/' } as const;
    expect(requestHeaderLines(parsed.plan, target, 0)).toEqual(parsed.plan.headers);
  });

  it.each([
    [['-H', 'X: a\r\nY: b', 'http://h/'], /^-H, -C, -A or -T: .*line break/],
    [['-m', 'BAD METHOD', 'http://h/'], /^-m: not an HTTP method/],
    [['-n', '2000000000000', 'http://h/'], /^-n: must be at most/],
    [['-s', '99999', 'http://h/'], /^-s: must be a duration/],
    [['-n', '5', '--slots', '3', 'http://h/'], /^--slots: 3 slots are more than 1 connection$/],
    [['-B', 'eth0', 'http://h/'], /^-B: must be an IPv4 or IPv6 address/],
    [['-b', '9999999999', 'http://h/'], /^-b: must be at most/],
  ])('names the option that a plan refuses: %j', (words, line) => {
    expect(describeAbProblems(planOfAb(optionsOf(...words), undefined))).toMatch(line);
  });
});

describe('connections', () => {
  function shardOf(...words: string[]) {
    const parsed = planOfAb(optionsOf(...words), undefined);
    if (!parsed.ok) throw new Error(describeAbProblems(parsed));
    const [shard] = splitPlan(parsed.plan, 'run', 1);
    return shard;
  }

  it('puts the whole address as typed into the request line for a proxy', () => {
    expect(requestOf(['-X', 'p', '-P', 'u:p', 'http://h:80/a?b#c'])).toBe(
      'GET http://h:80/a?b HTTP/1.0\r\nProxy-Authorization: Basic dTpw\r\nHost: h\r\n' +
        'User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n',
    );
    expect(requestOf(['-X', 'p', 'h/'])).toMatch(/^GET http:\/\/h\/ HTTP/);
    expect(shardOf('-X', 'p', 'http://h/')?.connection?.proxy).toEqual({
      host: 'p',
      port: 8_080,
      connectLines: [],
    });
  });

  it('asks a proxy for a tunnel to an https target, and keeps its credentials from the target', () => {
    const words = ['-X', '[::1]:3128', '-P', 'u:p', '-A', 'c:d', 'https://h/a'];
    expect(requestOf(words)).toMatch(/^GET \/a HTTP\/1\.0\r\nAuthorization: Basic Yzpk\r\nHost: h\r\n/);
    expect(shardOf(...words)?.connection?.proxy).toEqual({
      host: '::1',
      port: 3_128,
      connectLines: ['CONNECT h:443 HTTP/1.1', 'Host: h:443', 'Proxy-Authorization: Basic dTpw'],
    });
  });

  it.each([
    [['https://name.test/'], 'name.test'],
    [['-H', 'Host: other.test:8443 ', 'https://name.test/'], 'other.test'],
    [['-H', 'host: 127.0.0.1', 'https://name.test/'], ''],
    [['-I', 'https://name.test/'], ''],
    [['https://127.0.0.1/'], ''],
    [['https://[::1]/'], ''],
  ])('sends the name in the handshake that ab sends: %j', (words, serverName) => {
    expect(shardOf(...words)?.connection?.tls).toMatchObject({ serverName, verify: false });
  });

  it('speaks one version with -f and all of them without', () => {
    expect(shardOf('-f', 'TLS1.2', 'https://h/')?.connection?.tls).toMatchObject({
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.2',
    });
    expect(shardOf('https://h/')?.connection?.tls).toMatchObject({
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.3',
      resumeSessions: false,
    });
    expect(shardOf('-f', 'TLS1.2', '-Z', 'HIGH', 'http://h/')?.connection?.tls).toBeUndefined();
  });
});

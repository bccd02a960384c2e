// TLS, proxies and the rest as a user meets them: through the built command, beside the real ab where it can.

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runDetailSchema } from '@broadside/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FiredRun, fire, reportOf } from '../e2e/command-line.js';
import { type StartedCoordinator, startServe } from '../e2e/started-cluster.js';
import { parseAbReport, shapeOf } from '../support/ab-shape.js';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { withFreePort } from '../support/free-port.js';
import { NginxServer } from '../support/nginx.js';
import { runProcess } from '../support/process.js';
import { canRun, programPath } from '../support/programs.js';
import { runRealAb } from '../support/real-ab.js';
import { ForwardProxy } from '../targets/forward-proxy.js';
import { TlsTarget } from '../targets/tls-target.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';

const TLS_LINE = /^(SSL\/TLS Protocol|Server Temp Key|TLS Server Name): /;

function tlsLinesOf(text: string): string[] {
  return text.split('\n').filter((line) => TLS_LINE.test(line));
}

/** A text in which only the numbers may differ. */
function withoutNumbers(text: string): string {
  return text.replace(/\$Revision[^$]*\$/, '$Revision$').replace(/ *\d+(\.\d+)?/g, ' N');
}

describe.runIf(canRun('ab', 'nginx', 'openssl'))('the command over TLS and through proxies', () => {
  let certificates: Certificates;
  let coordinator: StartedCoordinator;
  let tlsTarget: TlsTarget;
  let picky: TlsTarget;
  let nginx: NginxServer;
  let plain: WellBehavedTarget;
  let proxy: ForwardProxy;
  let proxyAddress = '';
  /** Where a place holder in a list of words leads. */
  const places: Record<string, string> = {};

  beforeAll(async () => {
    certificates = await makeCertificates();
    const { cert, certPath, key, keyPath } = certificates.server;
    tlsTarget = new TlsTarget({ cert, key });
    const tlsPort = await tlsTarget.start();
    picky = new TlsTarget({ cert, key, ca: certificates.ca, requestCert: true, rejectUnauthorized: true });
    const pickyPort = await picky.start();
    nginx = await withFreePort(async (port) => {
      places['NGINX'] = `https://localhost:${port}/100.html`;
      // The curve is named because newer versions of OpenSSL prefer others than older ones.
      const tls = `ssl_certificate ${certPath}; ssl_certificate_key ${keyPath}; ssl_ecdh_curve X25519;`;
      return NginxServer.start({ serverDirectives: `listen 127.0.0.1:${port} ssl; ${tls}` });
    });
    plain = new WellBehavedTarget();
    await plain.start();
    proxy = new ForwardProxy();
    proxyAddress = await proxy.start();
    coordinator = await startServe(['--slots', '1']);
    places['TLS'] = `https://localhost:${tlsPort}/a`;
    places['ADDRESS'] = `https://127.0.0.1:${tlsPort}/a`;
    places['PICKY'] = `https://localhost:${pickyPort}/`;
    places['PLAIN'] = `${plain.url}/a?b`;
    places['IDENTITY'] = certificates.clientBothPath;
  });
  afterAll(async () => {
    await coordinator.process.stop();
    for (const server of [tlsTarget, picky, nginx, plain, proxy]) await server.stop();
    await certificates.remove();
  });

  const wordsOf = (words: readonly string[]): string[] => words.map((word) => places[word] ?? word);

  function fireHere(command: 'ab' | 'run', words: readonly string[]): Promise<FiredRun> {
    const at = command === 'ab' ? '--agents-at' : '--coordinator';
    return fire([command, at, coordinator.url, ...wordsOf(words)]);
  }

  it.each([
    ['kept connections to nginx', ['-n', '200', '-c', '4', '-k', 'NGINX']],
    ['new connections to nginx', ['-n', '100', '-c', '4', 'NGINX']],
    ['one version', ['-n', '20', '-k', '-f', 'TLS1.2', 'NGINX']],
    ['the newest version', ['-n', '20', '-k', '-f', 'TLS1.3', 'TLS']],
    ['a cipher', ['-n', '20', '-k', '-f', 'TLS1.2', '-Z', 'ECDHE-RSA-AES128-GCM-SHA256', 'NGINX']],
    [
      'a cipher without a temporary key',
      ['-n', '20', '-k', '-f', 'TLS1.2', '-Z', 'AES256-GCM-SHA384', 'TLS'],
    ],
    ['no server name', ['-n', '20', '-k', '-I', 'TLS']],
    ['another server name', ['-n', '20', '-k', '-H', 'Host: target.test', 'TLS']],
    ['an address', ['-n', '20', '-k', 'ADDRESS']],
    ['a client certificate', ['-n', '20', '-k', '-E', 'IDENTITY', 'PICKY']],
    ['a single request', ['-n', '1', 'TLS']],
  ])('reports the same as the real ab of %s', async (_title, words) => {
    const theirs = await runRealAb(wordsOf(words));
    const ours = await fireHere('ab', words);
    if (theirs.report === undefined) throw new Error(`the real ab printed no report\n${theirs.stderr}`);
    reportOf(ours);
    expect(tlsLinesOf(ours.stdout)).toEqual(tlsLinesOf(theirs.stdout));
    expect(shapeOf(ours.stdout)).toEqual(shapeOf(theirs.stdout));
    const ourReport = parseAbReport(ours.stdout);
    for (const name of [
      'completeRequests',
      'failedRequests',
      'keepAliveRequests',
      'totalTransferredBytes',
    ] as const) {
      expect([name, ourReport[name]]).toEqual([name, theirs.report[name]]);
    }
    expect(ours.exitCode).toBe(theirs.exitCode);
    expect(tlsLinesOf(ours.stdout).length).toBeGreaterThan(0);
  });

  it('fails with a reason where ab counts a handshake that failed as complete', async () => {
    const fired = await fireHere('ab', ['-n', '3', 'PICKY']);
    expect(fired.exitCode).toBe(1);
    expect(fired.stderr).toMatch(/ab: TLS failed with 127\.0\.0\.1:\d+: .*certificate/);
    expect(reportOf(fired).counters.completed).toBe(0);
  });

  it.each([
    [['-n', '1', '-B', '192.0.2.7', 'PLAIN'], 'bind: Cannot assign requested address (99)'],
    [['-n', '1', '-Z', 'BOGUS', 'TLS'], 'error setting ciphersuite list [BOGUS]'],
    [['-n', '1', '-E', '/nonexistent', 'TLS'], "unable to get certificate from '/nonexistent'"],
  ])('ends like the real ab: %j', async (words, message) => {
    const theirs = await runRealAb(wordsOf(words));
    const ours = await fireHere('ab', words);
    expect(theirs.stderr + theirs.stdout).toContain(message);
    expect(ours.stderr + ours.stdout).toContain(message);
    expect(ours.exitCode).toBe(theirs.exitCode);
  });

  it('sends the bytes of the real ab to a proxy, and says so in the same line', async () => {
    const words = ['-n', '2', '-k', '-X', proxyAddress.slice(7), '-P', 'p:q', '-A', 'a:b', 'PLAIN'];
    proxy.requestLines.length = 0;
    const theirs = await runRealAb(wordsOf(words));
    const theirHead = plain.lastRequest?.head;
    const ours = await fireHere('ab', words);
    expect(plain.lastRequest?.head).toBe(theirHead);
    expect(new Set(proxy.requestLines)).toEqual(new Set([`GET ${plain.url}/a?b HTTP/1.0`]));
    const lineOf = (text: string) => text.split('\n').find((line) => line.startsWith('Benchmarking'));
    expect(lineOf(ours.stdout)).toBe(lineOf(theirs.stdout));
    expect(ours.exitCode).toBe(0);
  });

  it('reaches an https target through a tunnel, which ab cannot', async () => {
    proxy.requestLines.length = 0;
    const fired = await fireHere('ab', ['-n', '20', '-c', '2', '-k', '-X', proxyAddress, 'TLS']);
    expect(parseAbReport(fired.stdout)).toMatchObject({ completeRequests: 20, failedRequests: 0 });
    expect(proxy.requestLines).toHaveLength(2);
    expect(proxy.requestLines[0]).toMatch(/^CONNECT localhost:\d+ HTTP\/1\.1$/);
  });

  it('prints the HTML report of ab', async () => {
    const words = ['-n', '20', '-c', '2', '-k', '-x', 'border=1', '-y', 'class=r', 'PLAIN'];
    const theirs = await runProcess(programPath('ab'), wordsOf(words));
    const ours = await fireHere('ab', words);
    expect(ours.exitCode).toBe(0);
    expect(withoutNumbers(ours.stdout)).toBe(withoutNumbers(theirs.stdout));
  });

  it('writes the percentiles as ab does, and never half of them', async () => {
    const [ourPath, theirPath] = ['ours.csv', 'theirs.csv'].map((name) => join(certificates.folder, name));
    const words = ['-n', '200', '-k'];
    await runRealAb(wordsOf([...words, '-e', theirPath ?? '', 'PLAIN']));
    const ours = await fireHere('ab', [...words, '-e', ourPath ?? '', 'PLAIN']);
    expect(ours.exitCode).toBe(0);
    const [ourRows, theirRows] = await Promise.all(
      [ourPath, theirPath].map(async (path) => (await readFile(path ?? '', 'utf8')).split('\n')),
    );
    expect(ourRows?.map((row) => row.split(',')[0])).toEqual(theirRows?.map((row) => row.split(',')[0]));
    expect(ourRows?.slice(1, 102).every((row) => /^\d+,\d+\.\d{3}$/.test(row))).toBe(true);
  });

  it('shows the request from -v 2 on, as ab does', async () => {
    const words = ['-n', '1', '-v', '2', '-k', 'PLAIN'];
    const theirs = await runProcess(programPath('ab'), wordsOf(words));
    const ours = await fireHere('ab', words);
    const shown = /INFO: GET header == \n---\n[\s\S]*?\n---\n/;
    expect(shown.exec(ours.stdout)?.[0]).toBe(shown.exec(theirs.stdout)?.[0]);
  });

  it('checks certificates unless told not to', async () => {
    const words = ['-n', '5', '-c', '1', '-q', 'TLS'];
    const checked = await fireHere('run', words);
    expect(checked.exitCode).toBe(1);
    expect(checked.stdout).toMatch(/Reasons +5 × unable to (verify|get)/);
    const trusted = await fireHere('run', ['--ca', certificates.caPath, ...words]);
    expect([trusted.exitCode, reportOf(trusted).counters.completed]).toEqual([0, 5]);
    expect(trusted.stdout).toMatch(/TLS +TLSv1\.3 TLS_AES_256_GCM_SHA384, 2048-bit key, X25519 253 bits/);
    const careless = await fireHere('run', ['--insecure', ...words]);
    expect([careless.exitCode, reportOf(careless).counters.completed]).toEqual([0, 5]);
  });

  it('shows no secret in the report, in answers and in what it prints', async () => {
    const { certPath, keyPath, key } = certificates.client;
    const secret = 'kept-to-ourselves';
    const words = ['-n', '2', '-c', '1', '--insecure', '--cert', certPath, '--key', keyPath];
    words.push('--user', `me:${secret}`, '--proxy', proxyAddress, '--proxy-user', `me:${secret}`);
    words.push('-H', 'X-Note: shown', '--cookie', `session=${secret}`, 'PICKY');
    const fired = await fireHere('run', words);
    expect(fired.exitCode).toBe(0);
    const report = reportOf(fired);
    const answer = await fetch(new URL(`/api/runs/${report.run.id}`, coordinator.url));
    const detail = runDetailSchema.parse(await answer.json());
    const list = await (await fetch(new URL('/api/runs', coordinator.url))).text();
    const everything = JSON.stringify([report, detail, list]) + fired.stdout + fired.stderr;
    expect(everything).not.toContain(secret);
    expect(everything).not.toContain(Buffer.from(`me:${secret}`).toString('base64'));
    expect(everything).not.toContain(key.split('\n')[1]);
    expect(everything).toContain('X-Note: shown');
    expect(detail.plan).toMatchObject({ user: '(redacted)', tls: { key: '(redacted)' } });
    expect(picky.heads.at(-1)).toContain(`Cookie: session=${secret}`);
    const again = await fetch(new URL('/api/runs', coordinator.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(detail.plan),
    });
    expect(again.status).toBe(400);
    expect(await again.text()).toContain('give the secret again');
  });

  it('takes the settings from a plan file, and flags add to them', async () => {
    const path = join(certificates.folder, 'plan.yaml');
    const ca = certificates.ca.trimEnd().split('\n').join('\n    ');
    const head = `target: ${places['TLS']}\nrequests: 4\nconnections: 1\naddresses: spread\n`;
    await writeFile(path, `${head}tls:\n  maxVersion: TLSv1.2\n  ca: |\n    ${ca}\n`);
    const fired = await fireHere('run', ['--server-name', 'target.test', path]);
    expect(fired.exitCode).toBe(0);
    expect(reportOf(fired).target.tls).toMatchObject({ protocol: 'TLSv1.2', serverName: 'target.test' });
    await rm(path);
  });

  it.each([
    [
      ['--cert', '/nonexistent.pem', 'TLS'],
      6,
      /^broadside: --cert: cannot read \/nonexistent\.pem: no such file/,
    ],
    [['--ca', '/dev/zero', 'TLS'], 6, /^broadside: --ca: cannot read \/dev\/zero: larger than /],
    [
      ['--ca', '/dev/null', 'TLS'],
      2,
      /^broadside: --ca: \/dev\/null is empty; give a file with certificates/,
    ],
    [
      ['--key', 'FOLDER', '--cert', 'FOLDER', 'TLS'],
      6,
      /^broadside: --cert: cannot read .*: it is a folder; /,
    ],
    [
      ['--cert', 'KEYFILE', '--key', 'KEYFILE', 'TLS'],
      2,
      /^broadside: --cert: \S+ holds a private key, and no certificate; /,
    ],
    [['--bind', '192.0.2.7', '-n', '1', '-c', '1', 'PLAIN'], 4, /^(?!broadside:)/],
  ])('says in one line what is wrong with %j', async (words, exitCode, line) => {
    places['FOLDER'] = certificates.folder;
    places['KEYFILE'] = certificates.client.keyPath;
    const fired = await fireHere('run', ['-q', ...words]);
    expect(fired.exitCode).toBe(exitCode);
    expect(fired.stderr).toMatch(line);
    expect(fired.stderr.trimEnd().split('\n').length).toBe(1);
    expect(fired.stderr).not.toMatch(/PRIVATE KEY-----\n/);
  });
});

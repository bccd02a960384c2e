// A coordinator behind its own certificate: agents, CLI and watchers reach it by https and wss, strangers to the
// certificate do not, and a renewed certificate is served without a restart.

import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { startCoordinator } from '@broadside/coordinator';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { broadside, startBroadside } from '../cli/broadside.js';
import { until } from '../coordinator/coordinator-under-test.js';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import type { RunningProcess } from '../support/process.js';
import { canRun } from '../support/programs.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';

const LISTENS = /^broadside coordinator listens on (https:\S+)$/;
const JOIN = { BROADSIDE_JOIN_TOKEN: 'a-join-token-of-this-test' };

describe.runIf(canRun('openssl'))('a coordinator with a certificate', () => {
  const target = new WellBehavedTarget();
  let certificates: Certificates;
  let folder = '';
  let serve: RunningProcess;
  let url = '';

  beforeAll(async () => {
    certificates = await makeCertificates();
    folder = await mkdtemp(join(tmpdir(), 'broadside-https-'));
    await target.start();
    await install(certificates.server);
    const words = [
      'serve',
      '--port',
      '0',
      '--slots',
      '1',
      '--tls-cert',
      file('cert'),
      '--tls-key',
      file('key'),
    ];
    serve = await startBroadside(words, JOIN);
    url = LISTENS.exec(await serve.waitForLine(LISTENS))?.[1] ?? '';
  });

  afterAll(async () => {
    await serve.stop();
    await target.stop();
    await certificates.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const file = (name: string): string => join(folder, name);

  async function install(pair: { readonly certPath: string; readonly keyPath: string }): Promise<void> {
    await copyFile(pair.keyPath, file('key'));
    await copyFile(pair.certPath, file('cert'));
  }

  const run = (env: Record<string, string>, ...words: readonly string[]) =>
    broadside(['run', '-q', '-n', '20', '-c', '2', '--coordinator', url, ...words, `${target.url}/`], env);

  it('carries a run for whoever trusts its authority, over the agent in its own process', async () => {
    expect((await run({ BROADSIDE_CA: certificates.caPath })).exitCode).toBe(0);
    expect((await run({}, '--coordinator-ca', certificates.caPath)).exitCode).toBe(0);
    const audit = await broadside(['audit', '--coordinator', url, '--ca', certificates.caPath]);
    expect([audit.exitCode, audit.stdout]).toEqual([0, expect.stringContaining('run.create')]);
  });

  it('is not spoken to by whoever does not', async () => {
    const { exitCode, stderr } = await run({});
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining('its certificate is not trusted here')]);
    const agent = await broadside(['agent', '--join', url], JOIN);
    expect([agent.exitCode, agent.stderr]).toEqual([
      5,
      expect.stringContaining('its certificate is not trusted'),
    ]);
  });

  it('takes agents that trust it', async () => {
    const agent = await startBroadside(
      ['agent', '--join', url, '--ca', certificates.caPath, '--name', 'far'],
      JOIN,
    );
    const line = await Promise.race([
      agent.waitForLine(/offers|Redis|embedded/),
      agent.exit.then(() => agent.stderr()),
    ]);
    // The queue of this coordinator is its own, so the agent cannot stay; that it was told so came over wss.
    expect(line).toMatch(/embedded|Redis/);
    await agent.stop();
  });

  it('serves no plain HTTP', async () => {
    const { exitCode, stderr } = await broadside([
      'token',
      'list',
      '--coordinator',
      url.replace('https', 'http'),
    ]);
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining('cannot reach the coordinator')]);
  });

  it('serves a renewed certificate without a restart, and keeps the old one while the new one is no pair', async () => {
    const before = await nameServed();
    await writeFile(file('cert'), 'no certificate');
    await serve.waitForLine(/the certificate stays as it is/);
    expect(await nameServed()).toBe(before);
    await install(certificates.curved);
    await until(async () => (await nameServed()) !== before);
    process.kill(serve.pid, 'SIGHUP');
    expect((await run({ BROADSIDE_CA: certificates.caPath })).exitCode).toBe(0);
  });

  /** Fingerprint of the certificate in a new handshake. */
  function nameServed(): Promise<string> {
    return new Promise((resolve, reject) => {
      const { port } = new URL(url);
      const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().fingerprint256);
        socket.destroy();
      });
      socket.once('error', reject);
    });
  }

  it('speaks TLS 1.2 and newer only', async () => {
    const { port } = new URL(url);
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => {
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
      connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false, ...old }).once(
        'error',
        resolve,
      );
    });
    expect(error.message).toMatch(/alert|version/i);
  });

  it('does not start with files that do not fit', async () => {
    const logger = pino({ level: 'silent' });
    const { server, other } = certificates;
    for (const [tlsCertFile, tlsKeyFile] of [
      [server.certPath, other.keyPath],
      [server.certPath, '/dev/null'],
      [file('none'), server.keyPath],
    ] as const) {
      const failure = startCoordinator({ tlsCertFile, tlsKeyFile, logger });
      await expect(failure).rejects.toThrow(/^the coordinator cannot serve TLS: /);
    }
    await expect(startCoordinator({ tlsCertFile: server.certPath, logger })).rejects.toThrow(/tlsKeyFile/);
  });
});

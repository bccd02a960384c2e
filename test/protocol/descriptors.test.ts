import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { canRun } from '../support/programs.js';
import { ForwardProxy } from '../targets/forward-proxy.js';
import { TlsTarget } from '../targets/tls-target.js';
import { runPlan } from './shard-through.js';

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

describe.runIf(canRun('openssl') && process.platform === 'linux')('descriptors', () => {
  let certificates: Certificates;
  let target: TlsTarget;
  let proxy: ForwardProxy;
  let port = 0;
  let proxyAddress = '';
  beforeAll(async () => {
    certificates = await makeCertificates();
    const { cert, key } = certificates.server;
    target = new TlsTarget({ cert, key });
    port = await target.start();
    proxy = new ForwardProxy();
    proxyAddress = await proxy.start();
  });
  afterAll(async () => {
    await target.stop();
    await proxy.stop();
    await certificates.remove();
  });

  it.each([
    ['TLS', () => ({ tls: { verify: false } })],
    ['TLS that is refused', () => ({})],
    ['TLS through a tunnel', () => ({ tls: { verify: false }, proxy: proxyAddress })],
    ['TLS through a tunnel that is refused', () => ({ proxy: proxyAddress })],
  ])('are all closed after many connections with %s', async (_title, fields) => {
    const plan = { target: `https://127.0.0.1:${port}/`, connections: 4, keepAlive: false, ...fields() };
    await runPlan({ ...plan, requests: 8 });
    const before = openDescriptors();
    await runPlan({ ...plan, requests: 200, timeoutMs: 10_000 });
    // The target and the proxy live in this process too: their ends are closed a moment later.
    await expect.poll(openDescriptors, { timeout: 5_000 }).toBeLessThanOrEqual(before);
  });
});

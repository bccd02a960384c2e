import { randomBytes } from 'node:crypto';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from '../support/certificates.js';
import { canRun } from '../support/programs.js';
import { TlsTarget } from '../targets/tls-target.js';
import { WellBehavedTarget } from '../targets/well-behaved-target.js';
import { namesAre, runPlan } from './shard-through.js';

const named = namesAre({ 'target.test': ['127.0.0.1'] });

describe.runIf(canRun('openssl'))('TLS', () => {
  let certificates: Certificates;
  const running: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    certificates = await makeCertificates();
  });
  afterEach(async () => {
    for (const target of running.splice(0)) await target.stop();
  });
  afterAll(() => certificates.remove());

  async function started(options: ConstructorParameters<typeof TlsTarget>[0] = {}) {
    const { cert, key } = certificates.server;
    const target = new TlsTarget({ cert, key, ...options });
    const port = await target.start();
    running.push(target);
    return { target, port };
  }

  /** A TCP server that does this to each connection. */
  async function startedRaw(onConnection: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    running.push({
      stop: () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          for (const socket of sockets) socket.destroy();
        }),
    });
    // A TCP server has no other kind of address.
    return (server.address() as AddressInfo).port;
  }

  it('sends requests over kept connections and says what was negotiated', async () => {
    const { target, port } = await started();
    const run = await runPlan(
      {
        target: `https://target.test:${port}/a`,
        requests: 200,
        connections: 4,
        tls: { ca: certificates.ca },
      },
      named,
    );
    expect(run.count('completed')).toBe(200);
    expect(run.count('connectionsOpened')).toBe(4);
    expect(run.failures).toEqual({});
    expect(run.end.transport).toBe('socket');
    expect(run.end.tls).toMatchObject({
      protocol: 'TLSv1.3',
      cipher: 'TLS_AES_256_GCM_SHA384',
      publicKeyBits: 2_048,
      cipherBits: 256,
      tempKey: 'X25519 253 bits',
      serverName: 'target.test',
      handshakes: 4,
      resumed: 0,
    });
    expect(target.handshakes).toHaveLength(4);
    expect(target.handshakes[0]).toMatchObject({ serverName: 'target.test', alpn: 'http/1.1' });
    expect(target.heads).toHaveLength(200);
    expect(target.heads[0]).toContain(`Host: target.test:${port}\r\n`);
  });

  it('counts the handshake into the connect time', async () => {
    const { port } = await started();
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 8,
      connections: 4,
      tls: { verify: false },
    });
    const handshakeMaxUs = run.end.tls?.handshakeMaxUs ?? 0;
    expect(handshakeMaxUs).toBeGreaterThan(0);
    const handshakes = run.histogram('tls');
    expect(handshakes.total).toBe(4);
    expect(Math.abs(handshakes.maxUs - handshakeMaxUs)).toBeLessThan(2);
    expect(handshakes.maxUs).toBeLessThanOrEqual(run.histogram('connect').maxUs);
    expect(run.histogram('connect').maxUs).toBeGreaterThanOrEqual(Math.floor(handshakeMaxUs));
  });

  it.each([
    ['https://target.test:PORT/', undefined, 'target.test'],
    ['https://target.test:PORT/', 'chosen.test', 'chosen.test'],
    ['https://target.test:PORT/', '', ''],
    ['https://127.0.0.1:PORT/', undefined, ''],
    ['https://127.0.0.1:PORT/', 'chosen.test', 'chosen.test'],
    ['https://127.0.0.1:PORT/', '127.0.0.1', ''],
  ])('sends the server name it should: %s with %j gives %j', async (address, serverName, sent) => {
    const { target, port } = await started();
    const tls = { verify: false, ...(serverName === undefined ? {} : { serverName }) };
    const run = await runPlan(
      { target: address.replace('PORT', String(port)), requests: 1, connections: 1, tls },
      named,
    );
    expect(run.count('completed')).toBe(1);
    expect(target.handshakes.map((handshake) => handshake.serverName)).toEqual([sent]);
    expect(run.end.tls?.serverName ?? '').toBe(sent);
  });

  it('verifies addresses in certificates, and the name even where none is sent', async () => {
    const { port } = await started();
    const plan = { requests: 1, connections: 1 };
    const { ca } = certificates;
    const byAddress = await runPlan({ ...plan, target: `https://127.0.0.1:${port}/`, tls: { ca } });
    const unnamed = await runPlan(
      { ...plan, target: `https://target.test:${port}/`, tls: { ca, serverName: '' } },
      named,
    );
    expect([byAddress.failures, unnamed.failures]).toEqual([{}, {}]);
  });

  it('connects elsewhere with the names of the target', async () => {
    const { target, port } = await started();
    const run = await runPlan({
      target: 'https://target.test/',
      requests: 2,
      connections: 1,
      connectTo: `127.0.0.1:${port}`,
      tls: { ca: certificates.ca },
    });
    expect(run.failures).toEqual({});
    expect(target.handshakes[0]?.serverName).toBe('target.test');
    expect(target.heads[0]).toContain('\r\nHost: target.test\r\n');
  });

  it.each([
    [
      'an authority that nobody knows',
      'target.test',
      {},
      /unable to (get local issuer|verify the first) certificate/,
    ],
    ['another name', 'wrong.test', { ca: true }, /does not match certificate's altnames: .*wrong\.test/],
    ['another name where none is sent', 'wrong.test', { ca: true, serverName: '' }, /wrong\.test/],
  ])('refuses a certificate of %s', async (_title, host, given, reason) => {
    const { target, port } = await started();
    const tls = { ...given, ...('ca' in given ? { ca: certificates.ca } : {}) };
    const run = await runPlan(
      {
        target: `https://${host}:${port}/`,
        requests: 3,
        connections: 1,
        tls: tls as { ca?: string; serverName?: string },
      },
      namesAre({ 'target.test': ['127.0.0.1'], 'wrong.test': ['127.0.0.1'] }),
    );
    expect(run.failures).toEqual({ tls: 3 });
    expect(target.heads).toEqual([]);
    expect(run.end.failureReasons).toHaveLength(1);
    expect(run.end.failureReasons[0]?.reason).toMatch(reason);
    expect(run.end.failureReasons[0]?.count).toBe(3);
  });

  it('gives the reason in the message that ends a run', async () => {
    const { port } = await started({ cert: certificates.other.cert, key: certificates.other.key });
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 5,
      connections: 1,
      onSocketError: 'stop',
      tls: { ca: certificates.ca },
    });
    expect(run.end.fatal).toMatchObject({ failureClass: 'tls' });
    expect(run.end.fatal?.message).toMatch(/^TLS failed with 127\.0\.0\.1:\d+: .*altnames/);
  });

  it.each([
    ['TLSv1.2', 'TLSv1.2', 'TLSv1.2'],
    ['TLSv1.3', 'TLSv1.3', 'TLSv1.3'],
    ['TLSv1.2', 'TLSv1.3', 'TLSv1.3'],
    ['TLSv1.1', 'TLSv1.1', 'TLSv1.1'],
    ['TLSv1', 'TLSv1', 'TLSv1'],
  ] as const)('speaks %s to %s: %s', async (minVersion, maxVersion, protocol) => {
    const { target, port } = await started({
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT:TLS_AES_128_GCM_SHA256:@SECLEVEL=0',
    });
    const tls = { verify: false, minVersion, maxVersion };
    const run = await runPlan({ target: `https://127.0.0.1:${port}/`, requests: 2, connections: 1, tls });
    expect(run.failures).toEqual({});
    expect(run.end.tls?.protocol).toBe(protocol);
    expect(target.handshakes[0]?.protocol).toBe(protocol);
  });

  it.each([
    ['ECDHE-RSA-AES128-GCM-SHA256', 'TLSv1.2', { cipherBits: 128, tempKey: 'X25519 253 bits' }],
    ['AES256-GCM-SHA384', 'TLSv1.2', { cipherBits: 256 }],
    ['TLS_CHACHA20_POLY1305_SHA256', 'TLSv1.3', { cipherBits: 256, tempKey: 'X25519 253 bits' }],
  ] as const)('uses the cipher %s', async (ciphers, maxVersion, facts) => {
    const { target, port } = await started({ ciphers: `${ciphers}:DEFAULT:TLS_AES_128_GCM_SHA256` });
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 1,
      connections: 1,
      tls: { verify: false, ciphers, maxVersion },
    });
    expect(target.handshakes[0]?.cipher).toBe(ciphers);
    expect(run.end.tls).toMatchObject({ cipher: ciphers, publicKeyBits: 2_048, ...facts });
    if (!('tempKey' in facts)) expect(run.end.tls?.tempKey).toBeUndefined();
  });

  it('knows keys on curves', async () => {
    const { cert, key } = certificates.curved;
    const { port } = await started({ cert, key, ecdhCurve: 'prime256v1' });
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 1,
      connections: 1,
      tls: { verify: false },
    });
    expect(run.end.tls).toMatchObject({ publicKeyBits: 256, tempKey: 'ECDH prime256v1 256 bits' });
  });

  it('fails in the class tls where no version or cipher is shared', async () => {
    const { port } = await started({ minVersion: 'TLSv1.3' });
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 2,
      connections: 1,
      tls: { verify: false, maxVersion: 'TLSv1.2' },
    });
    expect(run.failures).toEqual({ tls: 2 });
    expect(run.end.failureReasons[0]?.reason).toMatch(/protocol version/);
  });

  it('shows its certificate to a target that asks for one', async () => {
    const { target, port } = await started({
      requestCert: true,
      rejectUnauthorized: true,
      ca: certificates.ca,
    });
    const { cert, key } = certificates.client;
    const plan = { target: `https://127.0.0.1:${port}/`, requests: 4, connections: 2 };
    const shown = await runPlan({ ...plan, tls: { verify: false, cert, key } });
    expect(shown.failures).toEqual({});
    expect(target.handshakes[0]?.clientName).toBe('the client');
    const hidden = await runPlan({ ...plan, tls: { verify: false } });
    expect(hidden.count('completed')).toBe(0);
    expect(hidden.failures.tls).toBe(4);
    expect(hidden.end.failureReasons[0]?.reason).toMatch(/certificate/);
  });

  it.each([
    [
      'a key of another certificate',
      () => ({ cert: certificates.client.cert, key: certificates.server.key }),
      /the key does not belong to the certificate/,
    ],
    [
      'a broken certificate',
      () => ({ cert: certificates.client.cert.replaceAll(/[a-z]/g, 'a'), key: certificates.client.key }),
      /./,
    ],
    ['ciphers that do not exist', () => ({ ciphers: 'BOGUS' }), /no cipher match/],
  ])('refuses to start with %s, in one line without the key', async (_title, settings, reason) => {
    const tls = { verify: false, ...settings() };
    const refusal = await runPlan({ target: 'https://127.0.0.1:1/', requests: 1, connections: 1, tls }).then(
      () => 'no refusal',
      (error: unknown) => String(error),
    );
    expect(refusal).toMatch(/cannot be used: |does not belong/);
    expect(refusal).toMatch(reason);
    expect(refusal).not.toMatch(/PRIVATE|\n/);
  });

  it.each([
    [true, 'TLSv1.3'],
    [true, 'TLSv1.2'],
    [false, 'TLSv1.3'],
  ] as const)('resumes sessions when told to: %s, %s', async (resumeSessions, maxVersion) => {
    const { target, port } = await started({ maxVersion });
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 20,
      connections: 1,
      keepAlive: false,
      tls: { verify: false, resumeSessions },
    });
    expect(run.count('completed')).toBe(20);
    const resumed = target.handshakes.filter((handshake) => handshake.isResumed).length;
    expect(run.end.tls).toMatchObject({ handshakes: 20, resumed });
    expect(resumed).toBe(resumeSessions ? 19 : 0);
  });

  it('fails at once at a port that speaks plain HTTP', async () => {
    const target = new WellBehavedTarget();
    await target.start();
    const run = await runPlan({
      target: `https://127.0.0.1:${target.port}/`,
      requests: 2,
      connections: 1,
      timeoutMs: 500,
      tls: { verify: false },
    });
    // The target waits for the end of a line that never comes, or finds that this is no request.
    await target.stop().catch(() => undefined);
    expect(run.failures).toEqual({ tls: 2 });
  });

  it('says what is wrong when the answer is plain text', async () => {
    const port = await startedRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 2,
      connections: 1,
      tls: { verify: false },
    });
    expect(run.failures).toEqual({ tls: 2 });
    expect(run.end.failureReasons[0]?.reason).toMatch(/is it an https port\?/);
  });

  it.each([
    ['stalls', () => undefined, 'the TLS handshake was not finished in time'],
    [
      'is reset',
      (socket: Socket) => socket.once('data', () => socket.resetAndDestroy()),
      'the target ended the connection in the TLS handshake',
    ],
    [
      'is closed',
      (socket: Socket) => socket.once('data', () => socket.end()),
      'the target ended the connection in the TLS handshake',
    ],
  ])('puts a handshake that %s down to TLS', async (_title, onConnection, reason) => {
    const port = await startedRaw(onConnection);
    const run = await runPlan({
      target: `https://127.0.0.1:${port}/`,
      requests: 3,
      connections: 3,
      connectTimeoutMs: 200,
      timeoutMs: 20_000,
      tls: { verify: false },
    });
    expect(run.failures).toEqual({ tls: 3 });
    expect(run.end.failureReasons).toEqual([{ reason, count: 3 }]);
    expect(run.count('connectionsFailed')).toBe(3);
  });

  it('puts a broken record on an open connection down to TLS', async () => {
    const { target, port } = await started();
    const broken = await startedRaw((socket) => {
      let pieces = 0;
      const onward = relay(socket, port);
      onward.on('data', (piece: Buffer) => {
        // The handshake of TLS 1.2 is done after two answers; what follows is the reply.
        pieces++;
        socket.write(pieces > 2 ? randomBytes(piece.length) : piece);
      });
    });
    const run = await runPlan({
      target: `https://127.0.0.1:${broken}/`,
      requests: 2,
      connections: 1,
      timeoutMs: 2_000,
      tls: { verify: false, maxVersion: 'TLSv1.2' },
    });
    expect(target.heads.length).toBeGreaterThan(0);
    expect(run.failures).toEqual({ tls: 2 });
    expect(run.count('connectionsOpened')).toBe(2);
  });
});

/** Carries what the client sends on to a port of this machine; the answers are the caller's. */
function relay(socket: Socket, port: number): Socket {
  const onward = createConnection({ port, host: '127.0.0.1' });
  onward.on('error', () => socket.destroy());
  socket.pipe(onward);
  socket.once('close', () => onward.destroy());
  onward.once('close', () => socket.destroy());
  return onward;
}

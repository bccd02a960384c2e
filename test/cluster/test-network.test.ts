import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProcess } from '../support/process.js';
import { programPath } from '../support/programs.js';
import { canMakeHosts, type NetworkHost, TestNetwork } from './test-network.js';

const RELAY = fileURLToPath(new URL('relay.mjs', import.meta.url));
const CONNECT = `
  const socket = require('node:net').connect(Number(process.argv[2]), process.argv[1]);
  socket.setTimeout(700, () => { console.log('silence'); process.exit(); });
  socket.on('error', (error) => console.log(error.code));
  socket.on('data', (bytes) => { console.log(String(bytes)); process.exit(); });
`;
const GREETER = `
  const server = require('node:net').createServer((socket) => socket.end('hello'));
  server.listen(7000, process.argv[1], () => console.log('up'));
`;

describe.runIf(canMakeHosts())('a network of hosts', () => {
  let network: TestNetwork;
  let one: NetworkHost;
  let two: NetworkHost;

  beforeAll(async () => {
    network = await TestNetwork.create();
    [one, two] = [await network.addHost('one'), await network.addHost('two')];
  });
  afterAll(() => network.remove());

  /** What a client on one host hears from another. */
  async function heard(from: NetworkHost, address: string, port: number): Promise<string> {
    const client = await from.start(process.execPath, ['-e', CONNECT, address, String(port)]);
    await client.exit;
    return client.stdout().trim();
  }

  it('has hosts that reach each other by their own addresses, and nothing else', async () => {
    expect(await heard(one, two.address, 9)).toBe('ECONNREFUSED');
    // An address of documentation (RFC 5737): there is no way to it, so nothing is sent.
    expect(await heard(one, '192.0.2.1', 9)).toBe('ENETUNREACH');
  });

  it('can be cut between two hosts, lose packets, and be mended', async () => {
    const cut = { kind: 'cut', between: one.address, and: [two.address] } as const;
    await network.disturb(cut);
    expect(await heard(one, two.address, 9)).toBe('silence');
    await network.mend(cut);
    expect(await heard(one, two.address, 9)).toBe('ECONNREFUSED');
    await network.disturb({ kind: 'loss', host: two.address, percent: 100 });
    expect(await heard(one, two.address, 9)).toBe('silence');
    await network.mendAll();
    await network.setLink(two, false);
    expect(await heard(one, two.address, 9)).not.toBe('ECONNREFUSED');
    await network.setLink(two, true);
    expect(await heard(one, two.address, 9)).toBe('ECONNREFUSED');
  });

  it('is made longer by a relay on a host of its own', async () => {
    const far = await network.addHost('far');
    const greeter = await two.start(process.execPath, ['-e', GREETER, two.address]);
    await greeter.waitForLine(/up/);
    const relay = await far.start(process.execPath, [
      RELAY,
      `${far.address}:7001`,
      `${two.address}:7000`,
      '50',
    ]);
    await relay.waitForLine(/relay listens/);
    expect(await heard(one, far.address, 7001)).toBe('hello');
    await Promise.all([relay.stop(), greeter.stop()]);
  });

  it('is removed by the next test when its own was killed', async () => {
    const ip = (...words: string[]) => runProcess(programPath('ip'), words);
    // A process that cannot be: numbers end at 2^22.
    const name = 'broadside-test-4194305-1-1-switch';
    await ip('netns', 'add', name);
    const other = await TestNetwork.create();
    const { stdout } = await ip('netns', 'list');
    await other.remove();
    expect(stdout).not.toContain(name);
    expect(stdout).toContain(one.namespace);
  });
});

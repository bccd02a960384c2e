// Several hosts on one machine: a network namespace each, with an address of its own, joined by a bridge that sits in
// a namespace of its own too. The machine's own network is not touched, and there is no way out: no default route,
// no address of the private test range outside of the namespaces.
//
//     host "one"          switch             host "two"
//   eth0 10.203.0.1 ─── one │ bridge │ two ─── eth0 10.203.0.2
//                         nftables: cuts, loss
//
// Linux and root only. What a killed test left behind is removed by the next one: the names hold the process that
// made them.

import { readFile } from 'node:fs/promises';
import type { Place } from '../support/place.js';
import {
  assertExitCode,
  type ProcessOptions,
  type RunningProcess,
  runProcess,
  startProcess,
} from '../support/process.js';
import { canRun, programPath } from '../support/programs.js';
import { type Disturbance, disturbanceRules } from './disturbance.js';

const PREFIX = 'broadside-test';
const SUBNET = '10.203.0';
const MAX_HOSTS = 250;

/** For `describe.runIf`. Says in one line why not. */
export function canMakeHosts(): boolean {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  if (!isRoot)
    console.log('network namespaces need Linux and root: the tests with several hosts are left out');
  return isRoot && canRun('ip', 'nft');
}

/** A namespace with one address; programs started here have no other network. */
export class NetworkHost implements Place {
  readonly name: string;
  readonly address: string;
  readonly namespace: string;

  constructor(name: string, address: string, namespace: string) {
    this.name = name;
    this.address = address;
    this.namespace = namespace;
  }

  /** `ip netns exec` becomes the program, so signals reach it. */
  start(command: string, args: readonly string[], options: ProcessOptions = {}): Promise<RunningProcess> {
    return startProcess(programPath('ip'), ['netns', 'exec', this.namespace, command, ...args], options);
  }
}

export class TestNetwork {
  readonly #owner: string;
  readonly #hosts = new Map<string, NetworkHost>();
  readonly #disturbances = new Set<Disturbance>();

  private constructor(owner: string) {
    this.#owner = owner;
  }

  static async create(): Promise<TestNetwork> {
    await removeLeftovers();
    made++;
    const network = new TestNetwork(`${PREFIX}-${process.pid}-${await startOf(process.pid)}-${made}`);
    await ip('netns', 'add', network.#switch);
    await network.#inSwitch('link', 'add', 'name', 'bridge', 'type', 'bridge');
    await network.#inSwitch('link', 'set', 'dev', 'bridge', 'up');
    return network;
  }

  get #switch(): string {
    return `${this.#owner}-switch`;
  }

  /** @param name at most 15 characters: it names the host's port of the switch too. */
  async addHost(name: string): Promise<NetworkHost> {
    const number = this.#hosts.size + 1;
    if (number > MAX_HOSTS) throw new Error('the test network is full');
    const host = new NetworkHost(name, `${SUBNET}.${number}`, `${this.#owner}-${name}`);
    const { namespace } = host;
    this.#hosts.set(name, host);
    await ip('netns', 'add', namespace);
    const farEnd = ['peer', 'name', 'eth0', 'netns', namespace];
    await this.#inSwitch('link', 'add', 'name', name, 'type', 'veth', ...farEnd);
    await this.#inSwitch('link', 'set', 'dev', name, 'master', 'bridge', 'up');
    await ip('-n', namespace, 'addr', 'add', `${host.address}/24`, 'dev', 'eth0');
    await ip('-n', namespace, 'link', 'set', 'dev', 'eth0', 'up');
    await ip('-n', namespace, 'link', 'set', 'dev', 'lo', 'up');
    return host;
  }

  host(name: string): NetworkHost {
    const host = this.#hosts.get(name);
    if (host === undefined) throw new Error(`no host ${name}`);
    return host;
  }

  /** Until `mend` of the same object. */
  async disturb(disturbance: Disturbance): Promise<void> {
    this.#disturbances.add(disturbance);
    await this.#applyRules();
  }

  async mend(disturbance: Disturbance): Promise<void> {
    if (this.#disturbances.delete(disturbance)) await this.#applyRules();
  }

  async mendAll(): Promise<void> {
    this.#disturbances.clear();
    await this.#applyRules();
  }

  /** Pulls the host's cable, or puts it back. */
  async setLink(host: NetworkHost, isUp: boolean): Promise<void> {
    await this.#inSwitch('link', 'set', 'dev', host.name, isUp ? 'up' : 'down');
  }

  /** The namespaces last as long as something runs in them, so programs are to be stopped before. */
  async remove(): Promise<void> {
    for (const { namespace } of this.#hosts.values()) await ip('netns', 'del', namespace);
    await ip('netns', 'del', this.#switch);
  }

  async #inSwitch(...words: string[]): Promise<void> {
    await ip('-n', this.#switch, ...words);
  }

  async #applyRules(): Promise<void> {
    const command = [programPath('nft'), '-f', '-'];
    const result = await runProcess(programPath('ip'), ['netns', 'exec', this.#switch, ...command], {
      input: disturbanceRules([...this.#disturbances]),
    });
    assertExitCode(result, 0);
  }
}

let made = 0;

async function ip(...words: string[]): Promise<string> {
  const result = await runProcess(programPath('ip'), words);
  if (result.exitCode !== 0) throw new Error(`ip ${words.join(' ')}: ${result.stderr.trim()}`);
  return result.stdout;
}

/** Namespaces of a process that has ended: its number may have been given again, its start has not. */
async function removeLeftovers(): Promise<void> {
  const pattern = new RegExp(`^${PREFIX}-(\\d+)-(\\d+)-`);
  for (const line of (await ip('netns', 'list')).split('\n')) {
    const [name = ''] = line.split(' ');
    const [, pid, start] = pattern.exec(name) ?? [];
    if (pid !== undefined && (await startOf(Number(pid))) !== start) await ip('netns', 'del', name);
  }
}

/** When a process began, in ticks since the machine did; undefined when there is none. Field 22 of proc(5) stat. */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined; // It has ended, which was the question.
  }
}

import { describe, expect, it } from 'vitest';
import { installMissingPrograms, type Machine } from './debian-packages.mjs';

interface Trial {
  readonly machine: Machine;
  readonly log: string[];
}

/** A machine that has some programs, and gets the others when apt-get is run, unless that fails. */
function trial(
  present: readonly string[],
  options: Partial<Machine> & { readonly aptFails?: boolean } = {},
): Trial {
  const log: string[] = [];
  let isInstalled = false;
  const machine: Machine = {
    isRoot: true,
    hasApt: true,
    find: (name) => (isInstalled || present.includes(name) ? `/usr/bin/${name}` : undefined),
    run: (command, args) => {
      log.push([command, ...args].join(' '));
      if (options.aptFails === true) return false;
      if (args[0] === 'install') isInstalled = true;
      return true;
    },
    keepServicesDown: (isKept) => log.push(`services ${isKept ? 'down' : 'as before'}`),
    ...options,
  };
  return { machine, log };
}

const network = ['ip', 'nft'];
const all = ['ab', 'initdb', ...network, 'nginx', 'openssl', 'postgres', 'psql', 'redis-server', 'wrk'];

describe('installMissingPrograms', () => {
  it('does nothing when everything is there', () => {
    const { machine, log } = trial(all);
    expect(installMissingPrograms(machine)).toBeUndefined();
    expect(log).toEqual([]);
  });

  it('installs only the missing packages, each once, with their services kept down', () => {
    const { machine, log } = trial(['ab', ...network, 'nginx', 'openssl', 'redis-server']);
    expect(installMissingPrograms(machine)).toBeUndefined();
    expect(log).toEqual([
      'services down',
      'apt-get update',
      'apt-get install -y --no-install-recommends postgresql wrk',
      'services as before',
    ]);
  });

  it('names what is missing and how to get it where it may not install', () => {
    const present = ['ab', 'initdb', ...network, 'openssl', 'postgres', 'psql'];
    const { machine, log } = trial(present, { isRoot: false });
    expect(installMissingPrograms(machine)).toBe(
      'not installed: nginx, redis-server, wrk; the tests that start them are left out ' +
        '(to run them: apt-get install nginx redis-server wrk)',
    );
    expect(log).toEqual([]);
  });

  it('says what is still missing when the installation fails, and lets services start again', () => {
    const { machine, log } = trial(all.slice(1), { aptFails: true });
    expect(installMissingPrograms(machine)).toMatch(/^not installed: ab; .*apt-get install apache2-utils/);
    expect(log.at(-1)).toBe('services as before');
  });

  it('has no advice about apt-get where there is none', () => {
    const { machine } = trial(all.slice(1), { hasApt: false });
    expect(installMissingPrograms(machine)).toContain('install them');
  });
});

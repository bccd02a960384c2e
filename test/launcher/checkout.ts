// A small stand-in for a checkout: the real launcher script over packages that install and build in no time.

import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ProcessResult, type RunOptions, runProcess } from '../support/process.js';

const repository = resolve(import.meta.dirname, '..', '..');
const packages = ['apps/agent', 'apps/cli', 'apps/coordinator', 'libs/engine', 'libs/shared'];

/** Says where it runs and with what, and counts its builds in builds.log. */
const buildScript = `
const fs = require('node:fs');
fs.appendFileSync('builds.log', 'built\\n');
if (fs.existsSync('break-the-build')) { console.log('error TS1: broken'); process.exit(2); }
for (const p of ${JSON.stringify(packages)}) fs.mkdirSync(p + '/dist', { recursive: true });
fs.copyFileSync('apps/cli/src/main.js', 'apps/cli/dist/main.js');
`;

const mainScript = `
console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() }));
process.exitCode = process.argv.includes('--fail') ? 9 : 0;
`;

export class Checkout {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Checkout> {
    const checkout = new Checkout(await mkdtemp(join(tmpdir(), 'broadside launcher ')));
    await chmod(checkout.folder, 0o755);
    const manifest = { name: 'stand-in', version: '1.0.0', scripts: { build: 'node build.cjs' } };
    await checkout.write('package.json', JSON.stringify(manifest));
    const root = { name: 'stand-in', version: '1.0.0', dependencies: { held: 'file:held' } };
    await checkout.write('package.json', JSON.stringify({ ...manifest, dependencies: root.dependencies }));
    await checkout.write('held/package.json', JSON.stringify({ name: 'held', version: '1.0.0' }));
    const lockPackages = {
      '': root,
      held: { version: '1.0.0' },
      'node_modules/held': { resolved: 'held', link: true },
    };
    const lock = { ...root, lockfileVersion: 3, requires: true, packages: lockPackages };
    await checkout.write('package-lock.json', JSON.stringify(lock));
    await checkout.write('tsconfig.base.json', '{}');
    await checkout.write('build.cjs', buildScript);
    for (const name of packages) {
      await checkout.write(`${name}/package.json`, '{}');
      await checkout.write(`${name}/src/index.js`, '');
    }
    await checkout.write('apps/cli/src/main.js', mainScript);
    for (const path of ['broadside', 'tools/installed.mjs']) {
      await mkdir(dirname(join(checkout.folder, path)), { recursive: true });
      await cp(join(repository, path), join(checkout.folder, path));
    }
    return checkout;
  }

  start(args: readonly string[] = [], options: RunOptions = {}): Promise<ProcessResult> {
    return runProcess(join(this.folder, 'broadside'), args, options);
  }

  async write(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.folder, path)), { recursive: true });
    await writeFile(join(this.folder, path), text);
  }

  /** Gives the file a time that is surely later than any stamp so far. */
  async touch(path: string): Promise<void> {
    const later = new Date(Date.now() + 2000);
    await utimes(join(this.folder, path), later, later);
  }

  async buildCount(): Promise<number> {
    return (await readFile(join(this.folder, 'builds.log'), 'utf8')).split('\n').length - 1;
  }

  /** A folder with just these programs, to be a PATH; `scripts` are written as shell scripts. */
  async pathWith(
    programs: readonly string[],
    scripts: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const folder = await mkdtemp(join(this.folder, 'bin-'));
    await chmod(folder, 0o755);
    for (const name of programs) {
      const found = await runProcess('/bin/sh', ['-c', `command -v ${name}`]);
      await symlink(found.stdout.trim(), join(folder, name));
    }
    for (const [name, text] of Object.entries(scripts)) {
      await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    }
    return folder;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

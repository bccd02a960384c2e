import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assertExitCode, runProcess, startProcess } from '../support/process.js';
import { Checkout } from './checkout.js';

const tools = [
  'sh',
  'dirname',
  'find',
  'readlink',
  'mkdir',
  'rm',
  'mv',
  'cat',
  'sleep',
  'node',
  'npm',
  'env',
];

describe('./broadside', () => {
  let checkout: Checkout;
  beforeEach(async () => {
    checkout = await Checkout.create();
  });
  afterEach(() => checkout.remove());

  it('installs and builds at the first start, saying so on stderr only, and runs in the caller’s folder', async () => {
    const first = await checkout.start(['ab', '-n', '1 2', ''], { cwd: tmpdir() });
    assertExitCode(first, 0);
    expect(JSON.parse(first.stdout)).toEqual({ args: ['ab', '-n', '1 2', ''], cwd: tmpdir() });
    expect(first.stderr.split('\n')).toEqual([
      expect.stringMatching(/^broadside: first start: installing/),
      expect.stringMatching(/^broadside: building/),
      '',
    ]);
  });

  it('is quiet when nothing is to do, passes the exit code on, and works through links', async () => {
    await checkout.start();
    await symlink('broadside', join(checkout.folder, 'near'));
    await mkdir(join(checkout.folder, 'bin'));
    await symlink('../near', join(checkout.folder, 'bin/far'));
    const linked = await checkout.start(['--fail']);
    assertExitCode(linked, 9);
    const far = await startProcess(join(checkout.folder, 'bin/far'), ['x']);
    expect(await far.exit).toMatchObject({ exitCode: 0 });
    expect(linked.stderr + far.stderr()).toBe('');
    expect(await checkout.buildCount()).toBe(1);
  });

  it('builds again after a change to a source or the loss of one, not after a change to a test', async () => {
    await checkout.write('libs/shared/src/old.js', '');
    await checkout.write('libs/shared/src/a.test.ts', '');
    await checkout.start();
    await checkout.touch('libs/shared/src/a.test.ts');
    await checkout.start();
    expect(await checkout.buildCount()).toBe(1);
    await rm(join(checkout.folder, 'libs/shared/src/old.js'));
    await checkout.touch('libs/shared/src');
    expect((await checkout.start()).stderr).toMatch(/^broadside: building.*\n$/);
    expect(await checkout.buildCount()).toBe(2);
    await rm(join(checkout.folder, 'libs/engine/dist'), { recursive: true });
    await checkout.start();
    expect(await checkout.buildCount()).toBe(3);
  });

  it('installs again when versions changed, not when a checkout only changed times', async () => {
    await checkout.start();
    await checkout.touch('package-lock.json');
    expect((await checkout.start()).stderr).not.toContain('installing');
    await checkout.write('held/package.json', JSON.stringify({ name: 'held', version: '2.0.0' }));
    const lock = await readFile(join(checkout.folder, 'package-lock.json'), 'utf8');
    await checkout.write(
      'package-lock.json',
      lock
        .replace('"held":{"version":"1.0.0"}', '"held":{"version":"2.0.0"}')
        .replace('"node_modules/held":{', '"node_modules/held":{"version":"2.0.0",'),
    );
    await checkout.touch('package-lock.json');
    expect((await checkout.start()).stderr).toContain('installing what changed');
  });

  it('says where the log of a failed build is, runs nothing, and builds again at the next start', async () => {
    await checkout.write('break-the-build', '');
    const failed = await checkout.start();
    assertExitCode(failed, 70);
    expect(failed.stdout).toBe('');
    const log = /the build failed; see (.*)\n$/.exec(failed.stderr)?.[1] ?? '';
    expect(await readFile(log, 'utf8')).toContain('error TS1: broken');
    await rm(join(checkout.folder, 'break-the-build'));
    assertExitCode(await checkout.start(), 0);
  });

  it('ends with the code of the signal when its build is interrupted', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      // As a terminal does: the whole process group gets it, and npm ends with a code of its own.
      const build =
        `process.on('${signal}', () => process.exit(1)); ` +
        `process.kill(0, '${signal}'); setInterval(() => 0, 1000);`;
      await checkout.write('build.cjs', build);
      const launcher = join(checkout.folder, 'broadside');
      const result = await runProcess('setsid', ['--wait', launcher]);
      assertExitCode(result, code);
      expect(result.stderr).not.toContain('failed');
    }
  });

  it('lets one of many starts build while the others wait', async () => {
    const starts = await Promise.all([1, 2, 3, 4].map((number) => checkout.start([String(number)])));
    for (const [index, result] of starts.entries()) {
      assertExitCode(result, 0);
      expect(JSON.parse(result.stdout)).toMatchObject({ args: [String(index + 1)] });
    }
    expect(await checkout.buildCount()).toBe(1);
  });

  it('does the same without flock, and takes over the lock of a start that was killed', async () => {
    const path = await checkout.pathWith(tools);
    const dead = await startProcess(process.execPath, ['-e', '']);
    await dead.exit;
    await mkdir(join(checkout.folder, '.cache/launcher/lock.d'), { recursive: true });
    await writeFile(join(checkout.folder, '.cache/launcher/lock.d/pid'), `${dead.pid}\n`);
    const starts = await Promise.all([1, 2, 3].map(() => checkout.start([], { env: { PATH: path } })));
    for (const result of starts) assertExitCode(result, 0);
    expect(await checkout.buildCount()).toBe(1);
  });

  it('says in one line that node is missing or too old', async () => {
    const none = await checkout.start([], {
      bareEnv: { PATH: await checkout.pathWith(['find', 'readlink']) },
    });
    assertExitCode(none, 70);
    expect(none.stderr).toMatch(
      /^broadside: needs Node\.js 20\.19 or newer; there is no node on the PATH\n$/,
    );
    for (const version of ['18.20.4', '20.18.9', '21.7.0', '22.11.0']) {
      const path = await checkout.pathWith(['find', 'readlink'], { node: `echo ${version}` });
      const old = await checkout.start([], { bareEnv: { PATH: path } });
      assertExitCode(old, 70);
      expect(old.stderr).toBe(
        `broadside: needs Node.js 20.19 or newer (of the 22 line 22.12 or newer); ${path}/node is ${version}\n`,
      );
    }
  });

  it('says in one line that standard output is closed', async () => {
    const launcher = join(checkout.folder, 'broadside');
    const closed = await runProcess('/bin/sh', ['-c', 'exec "$0" help >&-', launcher]);
    expect(closed).toMatchObject({
      exitCode: 6,
      stderr: 'broadside: cannot write standard output: it is closed\n',
    });
    expect(closed.stdout).toBe('');
  });

  it('says in one line that npm is missing', async () => {
    const path = await checkout.pathWith(tools.filter((name) => name !== 'npm'));
    const result = await checkout.start([], { env: { PATH: path } });
    assertExitCode(result, 70);
    expect(result.stderr).toBe('broadside: needs npm to install its packages; there is none on the PATH\n');
  });

  it.runIf(process.getuid?.() === 0)(
    'runs what is built though it may not write, and says so when nothing is',
    async () => {
      const nobody = { uid: 65534, gid: 65534, env: { HOME: '/nonexistent' } };
      const unbuilt = await checkout.start([], nobody);
      assertExitCode(unbuilt, 6);
      expect(unbuilt.stderr).toBe(`broadside: is not built, and ${checkout.folder} cannot be written to\n`);
      await checkout.start();
      await checkout.touch('apps/cli/src/main.js');
      const built = await checkout.start(['x'], nobody);
      assertExitCode(built, 0);
      expect(built.stderr).toBe('');
    },
  );

  it('tells in one line of too few open files, before Node or npm would end in a stack trace', async () => {
    const few = async (limit: number, word: string) => {
      const words = ['-c', `ulimit -n ${limit} && exec "$@"`, 'sh', join(checkout.folder, 'broadside'), word];
      const { stdout, stderr, exitCode } = await runProcess('sh', words);
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^broadside: only (\d+) open files are allowed here, .*: ulimit -n 65536 .*\n$/);
      expect(stderr).toContain(` ${limit} `);
      return exitCode;
    };
    for (const limit of [14, 18, 40, 63]) expect(await few(limit, '--version')).toBe(4);
    expect(await few(18, 'ab')).toBe(24);
    // Enough for Node, and not for an installation or a build.
    expect(await few(64, 'run')).toBe(4);
    await checkout.start();
    const soft = ['-c', 'ulimit -S -n 18 && exec "$@"', 'sh', join(checkout.folder, 'broadside'), 'run'];
    assertExitCode(await runProcess('sh', soft), 0);
  });

  it('keeps its own cost within 30 ms beyond that of node', async () => {
    await checkout.start();
    const main = join(checkout.folder, 'apps/cli/dist/main.js');
    let [withLauncherMs, withoutLauncherMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    // The quickest of each, until they show it: what other processes on the machine add is not the launcher's.
    for (let round = 0; round < 40 && !(withLauncherMs - withoutLauncherMs < 30); round++) {
      const bare = await elapsedMs(() => startProcess(process.execPath, [main]));
      const launched = await elapsedMs(() => startProcess(join(checkout.folder, 'broadside'), []));
      withoutLauncherMs = Math.min(withoutLauncherMs, bare);
      withLauncherMs = Math.min(withLauncherMs, launched);
    }
    expect(withLauncherMs - withoutLauncherMs).toBeLessThan(30);
  });
});

async function elapsedMs(start: () => ReturnType<typeof startProcess>): Promise<number> {
  const startMs = performance.now();
  const child = await start();
  child.endInput();
  await child.exit;
  return performance.now() - startMs;
}

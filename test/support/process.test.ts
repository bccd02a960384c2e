import { describe, expect, it } from 'vitest';
import { assertExitCode, runProcess, startProcess } from './process.js';

const node = process.execPath;

describe('runProcess', () => {
  it('hands back exit code, output and what the program read', async () => {
    const script =
      "process.stdin.on('data',(d)=>console.log('got '+d));process.exitCode=7;console.error('warned')";
    const result = await runProcess(node, ['-e', script], { input: 'powder' });
    expect(result).toMatchObject({ exitCode: 7, signal: null, stdout: 'got powder\n', stderr: 'warned\n' });
    expect(() => assertExitCode(result, 0)).toThrow(/exit 7 instead of 0[\s\S]*warned/);
    expect(() => assertExitCode(result, 7)).not.toThrow();
  });

  it('kills a program that does not end in time and says so', async () => {
    const run = runProcess(node, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 300 });
    await expect(run).rejects.toThrow('did not end in 300 ms');
  });

  it('rejects when the program does not exist', async () => {
    await expect(runProcess('/nonexistent/program', [])).rejects.toThrow('ENOENT');
  });

  it('passes only the given variables with bareEnv', async () => {
    const script = 'console.log(Object.keys(process.env).sort().join())';
    expect((await runProcess(node, ['-e', script], { bareEnv: { ONLY: '1' } })).stdout).toBe('ONLY\n');
  });
});

describe('RunningProcess', () => {
  it('finds a line whether it was printed before or after the question', async () => {
    const script = "console.log('ready on 1');process.stdin.once('data',()=>console.log('fired'))";
    const child = await startProcess(node, ['-e', script]);
    expect(await child.waitForLine(/^ready on \d+$/)).toBe('ready on 1');
    expect(await child.waitForLine(/ready/)).toBe('ready on 1');
    const fired = child.waitForLine(/fired/);
    child.endInput('go');
    expect(await fired).toBe('fired');
    expect(await child.exit).toEqual({ exitCode: 0, signal: null });
  });

  it('rejects the wait for a line, with the output, when the program ends first', async () => {
    const child = await startProcess(node, ['-e', "console.error('no powder');process.exit(3)"]);
    await expect(child.waitForLine(/ready/)).rejects.toThrow(/exit 3[\s\S]*no powder/);
  });

  it('stops in an orderly way, and by SIGKILL when the program will not', async () => {
    const stubborn = "process.on('SIGTERM',()=>{});console.log('up');setInterval(()=>{},1000)";
    const child = await startProcess(node, ['-e', stubborn]);
    await child.waitForLine(/up/);
    expect(await child.stop(200)).toEqual({ exitCode: null, signal: 'SIGKILL' });
    expect(child.hasEnded()).toBe(true);
  });
});

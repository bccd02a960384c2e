import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { canRun } from './programs.js';
import { RedisServer } from './redis.js';

describe.runIf(canRun('redis-server'))('RedisServer', () => {
  it('keeps a durable write through a crash and a restart on the same port', async () => {
    const redis = await RedisServer.start({ isDurable: true });
    try {
      expect(await ask(redis.port, 'SET cannon loaded')).toBe('+OK');
      const firstPid = redis.pid;
      await redis.kill();
      await expect(ask(redis.port, 'PING')).rejects.toThrow('ECONNREFUSED');
      await redis.restart();
      expect(redis.pid).not.toBe(firstPid);
      expect(await ask(redis.port, 'GET cannon')).toBe('$6\r\nloaded');
    } finally {
      await redis.stop();
    }
    await expect(ask(redis.port, 'PING')).rejects.toThrow('ECONNREFUSED');
  });

  it('refuses commands without the password it was started with', async () => {
    const redis = await RedisServer.start({ password: 'p w' });
    try {
      expect(await ask(redis.port, 'PING')).toContain('NOAUTH');
      expect(redis.url).toBe(`redis://:p%20w@127.0.0.1:${redis.port}`);
    } finally {
      await redis.stop();
    }
  });
});

/** Sends one inline command followed by QUIT, and returns the reply to the first. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let reply = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\nQUIT\r\n`));
    socket.setEncoding('utf8').on('data', (text: string) => {
      reply += text;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(reply.replace(/\r\n\+OK\r\n$/, '')));
  });
}

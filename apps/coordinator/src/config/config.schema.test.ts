import { BroadsideError, tokenTextOf } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { type ConfigInput, isLoopback, parseConfig } from './config.schema.js';

function problemsFor(input: ConfigInput): string[] {
  try {
    parseConfig(input);
  } catch (error) {
    if (error instanceof BroadsideError) return error.problems.map((problem) => problem.path);
    throw error;
  }
  return [];
}

describe('the configuration', () => {
  it('listens on loopback without any setting', () => {
    expect(parseConfig({})).toMatchObject({ host: '127.0.0.1', port: 0, dataDir: 'ephemeral' });
  });

  it('refuses to listen beyond loopback where nobody could have a token', () => {
    expect(problemsFor({ host: '0.0.0.0' })).toEqual(['apiToken']);
    expect(problemsFor({ host: '::', joinToken: 'long-enough-token-1' })).toEqual(['apiToken']);
    expect(problemsFor({ host: '10.0.0.1', joinToken: 'short', apiToken: 'long-enough-token-1' })).toEqual([
      'joinToken',
    ]);
    for (const guard of [{ apiToken: 'long-enough-token-1' }, { adminTokenFile: 'f' }, { dataDir: 'd' }]) {
      expect(problemsFor({ host: '0.0.0.0', ...guard })).toEqual([]);
    }
  });

  it('hints at another way to a token of the kind that is wrong', () => {
    const hintFor = (input: ConfigInput): string | undefined => {
      try {
        parseConfig({ host: '0.0.0.0', ...input }, (field) => `--${field}`);
      } catch (error) {
        if (error instanceof BroadsideError) return error.hint;
        throw error;
      }
      return undefined;
    };
    expect(hintFor({ joinToken: 'short', adminTokenFile: 'f' })).toBe(
      'leave --joinToken out, and a join token is made up',
    );
    expect(hintFor({ apiToken: 'short' })).toContain('--admin-token-file FILE');
    expect(hintFor({})).toContain('--admin-token-file FILE');
    expect(hintFor({ adminTokenFile: 'f', port: -1 })).toBe('correct these settings');
  });

  it('says of a token that is empty just that', () => {
    expect(() => parseConfig({ joinToken: '' })).toThrow('joinToken: must not be empty');
  });

  it('refuses a token of the other kind, a damaged one, and one for both', () => {
    const [user, agent] = (['user', 'agent'] as const).map((kind) => tokenTextOf(kind, new Uint8Array(32)));
    expect(problemsFor({ joinToken: user, apiToken: agent })).toEqual(['joinToken', 'apiToken']);
    expect(problemsFor({ joinToken: agent?.slice(1), apiToken: user?.slice(0, -1) })).toEqual(['apiToken']);
    expect(problemsFor({ joinToken: agent, apiToken: user })).toEqual([]);
    expect(problemsFor({ joinToken: 'same', apiToken: 'same' })).toEqual(['joinToken']);
  });

  it('calls a setting as the person did who gave it, whichever other it needs', () => {
    const input = { host: '::', agentRedisUrl: 'redis://h', tlsKeyFile: 'k', trustedProxies: ['x'] };
    const refused = (given: ConfigInput) => () => parseConfig(given, (field) => `--${field}`);
    for (const line of [
      /--trustedProxies: must be an address/,
      /--agentRedisUrl: needs --redisUrl/,
      /--tlsCertFile: is needed beside --tlsKeyFile/,
      /--apiToken: is required to listen on ::/,
    ]) {
      expect(refused(input)).toThrow(line);
    }
  });

  it('keeps a thousand ended runs unless told', () => {
    expect(parseConfig({}).keepRuns).toBe(1_000);
    expect(problemsFor({ keepRuns: 0 })).toEqual(['keepRuns']);
    expect(problemsFor({ keepRuns: 100_001 })).toEqual(['keepRuns']);
  });

  it('names all problems at once and prints no secret', () => {
    const input = {
      port: 99_999,
      redisUrl: 'http://user:hunter2@x',
      databaseUrl: 'hunter2',
      joinToken: 'a b',
    };
    expect(problemsFor(input)).toEqual(['port', 'databaseUrl', 'redisUrl', 'joinToken']);
    expect(() => parseConfig(input)).toThrow(/^(?!.*hunter2)/);
  });

  it('names a rule for targets that is none', () => {
    expect(problemsFor({ allowTargets: ['private', '10.0.0.5/8'], denyTargets: ['h:0'] })).toEqual([
      'allowTargets',
      'denyTargets',
    ]);
  });

  it('knows which addresses only this machine can reach', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1', '[::1]']) {
      expect(isLoopback(host), host).toBe(true);
    }
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.example.org']) {
      expect(isLoopback(host), host).toBe(false);
    }
  });
});

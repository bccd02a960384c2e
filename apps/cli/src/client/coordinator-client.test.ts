import { describe, expect, it } from 'vitest';
import { CliError } from '../cli-error.js';
import { coordinatorAddress } from './coordinator-client.js';

describe('address of a coordinator', () => {
  it.each([
    ['http://h:7070', 'http://h:7070'],
    ['http://h:7070/', 'http://h:7070'],
    ['https://h', 'https://h'],
    ['h:7070', 'http://h:7070'],
    ['[::1]:7070', 'http://[::1]:7070'],
  ])('%s is taken as %s', (text, url) => {
    expect(coordinatorAddress('--join', text, undefined).url).toBe(url);
  });

  it.each([
    ['ftp://h', undefined, /^--join: must begin with http/],
    ['http://', undefined, /^--join "http:\/\/": must be http:\/\/host:port/],
    ['http://user:secret@h', undefined, /^--join: must not hold a user name/],
    ['http://h', 'se cret', /^--token: a token is 1 to 1024 characters of plain ASCII/],
    ['http://h', 'secret\r\nX: y', /^--token: a token is 1 to 1024 characters of plain ASCII/],
  ])('%s is refused in one line that repeats no secret', (text, token, line) => {
    let refusal: unknown;
    try {
      coordinatorAddress('--join', text, token === undefined ? undefined : { text: token, name: '--token' });
    } catch (error) {
      refusal = error;
    }
    if (!(refusal instanceof CliError)) throw new Error('accepted');
    expect(refusal.exitCode).toBe(2);
    expect(refusal.message).toMatch(line);
    expect(refusal.message).not.toContain('cret');
  });
});

import { describe, expect, it } from 'vitest';
import { describeServer, serverPoolConfig } from './server-connection.js';
import { StoreError } from './store-error.js';

describe('serverPoolConfig', () => {
  it('adds our schemas to the search path and keeps the options that were asked for', () => {
    const { connectionString } = serverPoolConfig(
      'postgres://a:b@h:5/db?options=-c%20work_mem%3D1MB&sslmode=require',
    );
    const url = new URL(connectionString ?? '');
    expect(url.searchParams.get('options')).toBe('-c work_mem=1MB -c search_path=broadside,bullmq,public');
    expect(url.searchParams.get('sslmode')).toBe('require');
  });

  it.each(['', 'localhost:5432', 'mysql://h/db', 'postgres:secret@host'])(
    'refuses %j without repeating it',
    (address) => {
      expect(() => serverPoolConfig(address)).toThrow(
        new StoreError('the database address must look like postgres://user@host:5432/name'),
      );
    },
  );
});

describe('describeServer', () => {
  it('leaves out user, password and options', () => {
    expect(describeServer('postgres://me:secret@db.example:5433/runs?sslmode=require')).toBe(
      'postgres://db.example:5433/runs',
    );
  });
});

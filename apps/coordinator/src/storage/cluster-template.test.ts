import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureCluster, packCluster } from './cluster-template.js';
import { StoreError } from './store-error.js';

let root: string;
let template: string;
let directory: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'broadside-template-test-'));
  template = join(root, 'template');
  directory = join(root, 'data');
  const cluster = join(root, 'cluster');
  mkdirSync(join(cluster, 'base', '5'), { recursive: true });
  mkdirSync(join(cluster, 'pg_notify'));
  mkdirSync(directory);
  writeFileSync(join(cluster, 'PG_VERSION'), '18\n');
  writeFileSync(join(cluster, 'base', '5', '1'), Buffer.from([0, 255, 1]));
  writeFileSync(join(cluster, 'base', 'empty'), '');
  packCluster(cluster, template, '0007-x');
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

describe('ensureCluster', () => {
  it('unpacks every file and empty directory, private to the user, and says which schema it has', () => {
    const { clusterDir, freshSchemaVersion } = ensureCluster(directory, template);
    expect(freshSchemaVersion).toBe('0007-x');
    const entries = readdirSync(clusterDir, { recursive: true }).map(String).toSorted();
    expect(entries).toEqual(['PG_VERSION', 'base', 'base/5', 'base/5/1', 'base/empty', 'pg_notify']);
    expect([...readFileSync(join(clusterDir, 'base', '5', '1'))]).toEqual([0, 255, 1]);
    expect(statSync(clusterDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(clusterDir, 'base', '5', '1')).mode & 0o777).toBe(0o600);
  });

  it('leaves a cluster that is there as it is', () => {
    const { clusterDir } = ensureCluster(directory, template);
    writeFileSync(join(clusterDir, 'base', '5', '1'), 'mine');
    expect(ensureCluster(directory, template)).toEqual({ clusterDir, freshSchemaVersion: undefined });
    expect(readFileSync(join(clusterDir, 'base', '5', '1'), 'utf8')).toBe('mine');
  });

  it('removes what a killed process had half unpacked', () => {
    mkdirSync(join(directory, 'postgres.partial-abc'));
    ensureCluster(directory, template);
    expect(existsSync(join(directory, 'postgres.partial-abc'))).toBe(false);
  });

  it('refuses a directory of that name that holds something else', () => {
    mkdirSync(join(directory, 'postgres'));
    expect(() => ensureCluster(directory, template)).toThrow('exists but holds no store');
  });

  it('refuses a template that is cut short or missing, and makes nothing', () => {
    truncateSync(join(template, 'cluster.bin'), 2);
    expect(() => ensureCluster(directory, template)).toThrow(StoreError);
    expect(() => ensureCluster(directory, join(root, 'nowhere'))).toThrow('template is missing');
    expect(readdirSync(directory)).toEqual([]);
  });
});

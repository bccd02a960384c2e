/// <reference types="node" />
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BROADSIDE_VERSION } from './version.js';

it.each(['../package.json', '../../../package.json'])('is the version of %s', (path) => {
  const manifest: unknown = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
  expect(manifest).toMatchObject({ version: BROADSIDE_VERSION });
});

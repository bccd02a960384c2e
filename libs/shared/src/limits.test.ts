import { expect, it } from 'vitest';
import { LIMITS } from './limits.js';
import { HIGHEST_VALUE_US } from './metrics/histogram.js';

it('lets histograms hold the longest wait for a reply', () => {
  expect(LIMITS.maxTimeoutMs * 1_000).toBeLessThanOrEqual(HIGHEST_VALUE_US);
});

it('has defaults within their limits', () => {
  expect(LIMITS.defaultReplyHeaderBytes).toBeLessThanOrEqual(LIMITS.maxReplyHeaderBytes);
  expect(LIMITS.defaultReplyBodyBytes).toBeLessThanOrEqual(LIMITS.maxReplyBodyBytes);
});

it('hears several heartbeats before silence means a lost agent', () => {
  expect(LIMITS.heartbeatMs * 3).toBeLessThanOrEqual(LIMITS.agentSilenceMs);
});

it('keeps every sum of a run an exact integer', () => {
  expect(LIMITS.maxRequests * 2).toBeLessThan(Number.MAX_SAFE_INTEGER);
  expect(LIMITS.maxShards).toBeLessThanOrEqual(LIMITS.maxConnections);
});

it('accepts over REST a plan whose body and headers are as large as a plan allows', () => {
  const bodyBytes = (LIMITS.maxRequestBodyBytes / 3) * 4;
  const headerBytes = LIMITS.maxRequestHeaders * (LIMITS.maxRequestHeaderBytes + 4);
  expect(bodyBytes + headerBytes + LIMITS.maxTargetLength).toBeLessThan(LIMITS.maxRestBodyBytes);
});

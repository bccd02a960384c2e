import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Histogram, latencyOf } from '@broadside/shared';
import type { TargetProcess } from './target-process.js';
import type { TargetScript } from './target-script.js';

/**
 * The way of a request and its reply between two processes on this machine: what a plain client measures beyond the
 * delay that the target stamps. The kernel needs it to wake both of them, and an idle machine more than a busy one,
 * so it is measured at the pace of the scenarios, by a client that shares nothing with the engine.
 */
export async function measureWayUs(target: Pick<TargetProcess, 'url' | 'begin' | 'tell'>): Promise<number> {
  await target.begin(SCRIPT);
  const { hostname, port } = new URL(target.url);
  const seen = new Histogram();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, () => askAgainAndAgain(hostname, Number(port), seen)),
  );
  const { delays } = await target.tell();
  return Math.min(Math.max(latencyOf(seen).p50Us - delays.p50Us, 0), MAX_WAY_US);
}

const CONNECTIONS = 4;
/** The first ones run in code that is not compiled yet, and are not counted. */
const FIRST_REQUESTS = 30;
const REQUESTS_EACH = 80;
/** A way that takes longer is no way but a queue for the CPU, which must not widen what is allowed. */
const MAX_WAY_US = 500;
const TIMEOUT_MS = 5_000;
const SCRIPT: TargetScript = { delays: { seed: 0, shares: [[1, 10]] }, faults: [] };
const REQUEST = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

async function askAgainAndAgain(host: string, port: number, seen: Histogram): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const socket = connect({ host, port, noDelay: true, signal });
  try {
    await once(socket, 'connect');
    for (let i = 0; i < REQUESTS_EACH; i++) {
      const tookUs = await askUs(socket);
      if (i >= FIRST_REQUESTS) seen.record(tookUs);
    }
  } finally {
    socket.destroy();
  }
}

/** A reply of the target is so short that it comes in one piece. */
function askUs(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    const beganMs = performance.now();
    socket.once('error', reject);
    socket.once('data', () => {
      const tookUs = (performance.now() - beganMs) * 1_000;
      socket.off('error', reject);
      resolve(tookUs);
    });
    socket.write(REQUEST);
  });
}

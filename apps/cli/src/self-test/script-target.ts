import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { Histogram, latencyOf } from '@broadside/shared';
import { delayCycleMs } from './known-delays.js';
import { type Fault, faultOf, noFaults, type TargetRecord, type TargetScript } from './target-script.js';

const END_OF_HEAD = '\r\n\r\n';
const BODY = 'x'.repeat(100);
const REPLY = `HTTP/1.1 200 OK\r\nServer: broadside-self-test\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const UNAVAILABLE = `HTTP/1.1 503 Service Unavailable\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const TRUNCATED = REPLY.slice(0, -BODY.length / 2);
/** A proper reply with a body that is one byte shorter than all others. */
const OTHER_LENGTH = REPLY.slice(0, -1).replace(`Length: ${BODY.length}`, `Length: ${BODY.length - 1}`);
/** Long enough for the part of a reply to be read before the reset overtakes it. */
const HEAD_START_MS = 20;
const GARBAGE = 'SSH-2.0-nothing that speaks HTTP\r\n\r\n';

/** The target of the self-test: follows its script, and keeps a record of what it does by its own clock. */
export class ScriptTarget {
  readonly server: Server;
  #play: Play;

  constructor(script: TargetScript) {
    this.#play = new Play(script);
    this.server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  /** What happened under the script before is forgotten, and so are its connections. */
  begin(script: TargetScript): void {
    this.#play.end();
    this.#play = new Play(script);
  }

  record(): TargetRecord {
    return this.#play.record();
  }

  #serve(socket: Socket): void {
    const play = this.#play;
    play.connections++;
    let unread = '';
    let served = 0;
    socket.on('data', (chunk: Buffer) => {
      const nowUs = clockUs();
      unread += chunk.toString('latin1');
      for (let end = unread.indexOf(END_OF_HEAD); end >= 0; end = unread.indexOf(END_OF_HEAD)) {
        unread = unread.slice(end + END_OF_HEAD.length);
        play.take(socket, served++, nowUs);
      }
    });
    // Whoever resets a connection to the target of a self-test has ended its run.
    socket.on('error', () => socket.destroy());
  }
}

/** One script being followed. */
class Play {
  connections = 0;
  #requests = 0;
  #replies = 0;
  #closedNew = 0;
  #firstUs = 0;
  #lastUs = 0;
  readonly #script: TargetScript;
  readonly #delaysMs: Float64Array;
  readonly #faults = noFaults();
  readonly #delays = new Histogram();
  readonly #freezes: { beginUs: number; endUs: number }[] = [];
  readonly #runDelayUs = runDelayUs();
  #freezing: NodeJS.Timeout | undefined;

  constructor(script: TargetScript) {
    this.#script = script;
    this.#delaysMs = delayCycleMs(script.delays);
  }

  /** @param served how many requests came on this connection before. */
  take(socket: Socket, served: number, nowUs: number): void {
    const { keepAliveLimit, freezes } = this.#script;
    const number = this.#requests++;
    this.#lastUs = nowUs;
    if (number === 0) {
      this.#firstUs = nowUs;
      if (freezes !== undefined) this.#freezeAt(freezes.firstAtMs);
    }
    const isOver = keepAliveLimit !== undefined && served >= keepAliveLimit;
    const fault = isOver ? 'close' : faultOf(this.#script, number);
    if (fault === undefined) this.#reply(socket, this.#delaysMs[number % this.#delaysMs.length] ?? 0, nowUs);
    else this.#misbehave(socket, fault, served);
  }

  record(): TargetRecord {
    const now = runDelayUs();
    return {
      connections: this.connections,
      requests: this.#requests,
      replies: this.#replies,
      faults: { ...this.#faults },
      closedNew: this.#closedNew,
      spanUs: this.#lastUs - this.#firstUs,
      delays: latencyOf(this.#delays),
      freezes: this.#freezes,
      ...(now === undefined || this.#runDelayUs === undefined ? {} : { runDelayUs: now - this.#runDelayUs }),
    };
  }

  end(): void {
    clearTimeout(this.#freezing);
  }

  #reply(socket: Socket, delayMs: number, takenUs: number): void {
    const answer = (): void => {
      if (socket.destroyed) return;
      this.#replies++;
      // Before the write, which hands the reply to the client: what the client measures cannot be less.
      this.#delays.record(clockUs() - takenUs);
      socket.write(REPLY);
    };
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs);
  }

  #misbehave(socket: Socket, fault: Fault, served: number): void {
    this.#faults[fault]++;
    switch (fault) {
      case 'reset':
        socket.resetAndDestroy();
        return;
      case 'resetWithin':
        socket.write(TRUNCATED);
        setTimeout(() => socket.resetAndDestroy(), HEAD_START_MS);
        return;
      case 'close':
        if (served === 0) this.#closedNew++;
        socket.end();
        return;
      case 'truncate':
        socket.end(TRUNCATED);
        return;
      case 'garbage':
        socket.write(GARBAGE);
        return;
      case 'status':
        socket.write(UNAVAILABLE);
        return;
      case 'otherLength':
        socket.write(OTHER_LENGTH);
        return;
      case 'silent':
        return;
    }
  }

  /** Frozen for real: the thread does nothing, so that requests wait in the kernel as with any server that hangs. */
  #freezeAt(atMs: number): void {
    const { freezes } = this.#script;
    if (freezes === undefined) return;
    const leftMs = atMs - (clockUs() - this.#firstUs) / 1_000;
    this.#freezing = setTimeout(() => {
      const beginUs = clockUs() - this.#firstUs;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, freezes.lastsMs);
      this.#freezes.push({ beginUs, endUs: clockUs() - this.#firstUs });
      this.#freezeAt(atMs + freezes.everyMs);
    }, leftMs);
  }
}

function clockUs(): number {
  return performance.now() * 1_000;
}

/** Of the main thread since it began (`/proc/self/schedstat`, second number, in ns). */
function runDelayUs(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const match = /^[1-9]\d* (\d+) \d+/.exec(readFileSync('/proc/self/schedstat', 'latin1'));
    return match === null ? undefined : Number(match[1]) / 1_000;
  } catch {
    // A kernel without the accounting: not known, which the judgement of times takes into account.
    return undefined;
  }
}

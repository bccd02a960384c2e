/**
 * Drives one shard in one thread: prepare, probe, start at the common instant, run, drain, end. The only file
 * that knows load, transport and recorder together.
 */
import {
  COUNTER,
  type FailureReason,
  type Fatal,
  type Interval,
  LIMITS,
  type ProbeResult,
  type Shard,
  type ShardTotals,
  type TlsFacts,
} from '@broadside/shared/engine';
import { type Clock, monotonicClock } from './clock.js';
import { encodeRequest } from './encode-request.js';
import { type EnginePhase, movePhase } from './engine-phase.js';
import type { Load } from './load/load.js';
import { openLoad } from './load/open-load.js';
import type { RequestSource } from './load/request-source.js';
import { requestSourceOf } from './load/request-source-of.js';
import type { ProbeOutcome } from './load-events.js';
import { prepareConnections } from './prepare-connections.js';
import { IntervalClock } from './recorder/interval-clock.js';
import { Recorder } from './recorder/recorder.js';
import { type Lookup, systemLookup, type TargetCheck } from './resolve-target.js';
import { COMMAND, type ShardControl } from './shard-control.js';
import type { OpenTransportOptions } from './transport/open-transport.js';
import { TlsSettingsError } from './transport/socket/tls-dialing.js';
import { SocketTransport } from './transport/socket-transport.js';
import type { CloseCause, Transport, TransportHandler, TransportName } from './transport/transport.js';

/** Grace for requests in flight when the time is over. Without any, slow replies would vanish from the numbers. */
const DRAIN_MS = 1_000;
/** Longest wait between two looks at the control memory, should a wake-up be lost. */
const CONTROL_POLL_US = 1_000_000;

/** Receives what an engine has to say. Called from the engine's thread, never after `onEnded` or `onRefused`. */
export interface ShardSink {
  /** Name resolved, address allowed, request encoded: the engine waits for `probe` or `start`. */
  onReady(): void;
  /** The shard cannot be run here; nothing was sent. */
  onRefused(fatal: Fatal): void;
  /** Outcome of the probe. @param tookUs from the attempt to connect to the outcome. */
  onProbed(result: ProbeResult, tookUs: number): void;
  onInterval(interval: Interval): void;
  onEnded(end: ShardEnd): void;
}

export interface ShardEnd {
  readonly totals: ShardTotals;
  /** Why the shard ended before its budget was used up; absent otherwise, and after `stop`. */
  readonly fatal?: Fatal;
  /** First `Server` value seen; empty when there was none. */
  readonly server: string;
  /** What was read of the probe's reply; empty unless the shard wants it. */
  readonly firstReply: string;
  /** All addresses of the target's name, and the one that was used. */
  readonly addresses: readonly string[];
  readonly address: string;
  /** All that were used, the one above the first of them. */
  readonly used: readonly string[];
  readonly transport: TransportName;
  readonly transportNote?: string;
  readonly tls?: TlsFacts;
  readonly failureReasons: readonly FailureReason[];
  /** Begin of the load as reached minus as asked for, in µs; 0 when the load was never started. */
  readonly startSkewUs: number;
  /** End of the sending minus the instant at which a time or an order ends it, in µs; absent: neither did. */
  readonly stopSkewUs?: number;
}

export interface ShardRunOptions {
  readonly shard: Shard;
  readonly control: ShardControl;
  readonly sink: ShardSink;
  /** The target policy, asked about each resolved address. */
  readonly refusalOf: TargetCheck;
  readonly lookup?: Lookup;
  readonly clock?: Clock;
  readonly openTransport?: (options: OpenTransportOptions) => Transport;
}

export interface ShardRun {
  /** Resolves after `onEnded` or `onRefused`. A defect of ours rejects it or ends the thread uncaught. */
  readonly ended: Promise<void>;
  /** To be called in the engine's thread after each order written into the control memory. */
  wake(): void;
}

/** Begins to run a shard in this thread. Everything it finds goes to the sink. */
export function runShard(options: ShardRunOptions): ShardRun {
  let engine: ShardEngine | undefined;
  const ended = prepare(options).then((prepared) => {
    if (prepared.ok) {
      engine = new ShardEngine(options, prepared);
      return engine.run();
    }
    options.sink.onRefused(prepared.fatal);
    return undefined;
  });
  return { ended, wake: () => engine?.wake() };
}

interface Prepared {
  readonly ok: true;
  readonly transport: Transport;
  readonly requestBytes: Uint8Array;
  readonly peer: string;
  readonly addresses: readonly string[];
  readonly used: readonly string[];
}

async function prepare(options: ShardRunOptions): Promise<Prepared | { ok: false; fatal: Fatal }> {
  const { shard, refusalOf, lookup = systemLookup, clock = monotonicClock } = options;
  const connections = await prepareConnections(shard, { lookup, refusalOf });
  if (!connections.ok) return connections;
  const { destination, ...names } = connections;
  const open = options.openTransport ?? ((given) => new SocketTransport(given));
  try {
    const transport = open({ ...destination, connections: shard.connections, clock });
    return { ...names, transport, requestBytes: encodeRequest(shard) };
  } catch (error) {
    if (!(error instanceof TlsSettingsError)) throw error;
    return { ok: false, fatal: { failureClass: 'tls', code: 'TLS_SETTINGS', message: error.message } };
  }
}

class ShardEngine implements TransportHandler {
  readonly #options: ShardRunOptions;
  readonly #prepared: Prepared;
  readonly #clock: Clock;
  readonly #source: RequestSource;
  readonly #recorder = new Recorder();
  readonly #intervals: IntervalClock;
  readonly #load: Load;
  #phase: EnginePhase = 'preparing';
  #hasProbed = false;
  #startUs = 0;
  /** When the load begins; later than the start instant where a rest is taken up in the middle of an interval. */
  #fromUs = 0;
  #startSkewUs = 0;
  #stopSkewUs: number | undefined;
  #drainUntilUs = 0;
  #fatal: Fatal | undefined;

  constructor(options: ShardRunOptions, prepared: Prepared) {
    const { shard, sink } = options;
    const { transport, requestBytes, peer } = prepared;
    this.#options = options;
    this.#prepared = prepared;
    this.#clock = options.clock ?? monotonicClock;
    this.#source = requestSourceOf(shard, this.#recorder);
    const { runId, shardIndex, attempt } = shard;
    this.#intervals = new IntervalClock({
      attempt: { runId, shardIndex, attempt },
      intervalMs: LIMITS.intervalMs,
      recorder: this.#recorder,
      read: () => ({
        inFlight: this.#load.inFlight,
        openConnections: this.#load.openConnections,
        idleUs: transport.idleUs(),
        polledUs: transport.polledUs?.() ?? 0,
      }),
      onInterval: (interval) => sink.onInterval(interval),
      warmupIntervals: (shard.warmupMs ?? 0) / LIMITS.intervalMs,
      onClosing: (endUs) => this.#source.countDue(endUs),
      onWarmupEnd: (atUs) => this.#load.beginMeasured(atUs),
    });
    this.#load = openLoad({
      shard,
      requestBytes,
      peer,
      transport,
      clock: this.#clock,
      source: this.#source,
      recorder: this.#recorder,
      intervals: this.#intervals,
      events: {
        onProbed: (outcome) => this.#onProbed(outcome),
        onFatal: (fatal) => this.#onFatal(fatal),
      },
    });
  }

  run(): Promise<void> {
    this.#move('ready');
    this.#options.sink.onReady();
    return this.#prepared.transport.run(this);
  }

  wake(): void {
    this.#prepared.transport.wake();
  }

  onOpen(connection: number, hasInput?: boolean): void {
    this.#load.onOpen(connection, hasInput);
    const handshakeUs = this.#prepared.transport.handshakeUs?.(connection) ?? -1;
    if (handshakeUs >= 0) this.#recorder.tls.record(handshakeUs);
  }

  onData(connection: number, buffer: Uint8Array, start: number, end: number): void {
    this.#load.onData(connection, buffer, start, end);
  }

  onClose(connection: number, cause: CloseCause, errno: number): void {
    this.#load.onClose(connection, cause, errno);
  }

  onTurn(nowUs: number): number {
    this.#intervals.advance(nowUs);
    this.#obey(nowUs);
    if (this.#phase !== 'ended') this.#load.turn(nowUs);
    this.#checkBudget(nowUs);
    return this.#phase === 'ended' ? -1 : this.#nextUs(nowUs);
  }

  /** Looks at the control memory and at the start instant. */
  #obey(nowUs: number): void {
    const { control, shard } = this.#options;
    const { command } = control;
    if (this.#fatal !== undefined) this.#end(nowUs, COUNTER.notSentFatal);
    else if (command === COMMAND.stop && nowUs >= control.stopAtUs) this.#stop(nowUs);
    else if (this.#phase === 'ready' && command === COMMAND.probe && !this.#hasProbed && shard.probe) {
      this.#hasProbed = true;
      this.#move('probing');
      this.#load.probe(nowUs);
    } else if (this.#phase === 'ready' && command === COMMAND.start) {
      this.#startUs = control.startAtUs;
      this.#fromUs = control.fromUs;
      this.#move('armed');
    }
    if (this.#phase === 'armed' && nowUs >= this.#fromUs) {
      this.#move('running');
      this.#startSkewUs = nowUs - this.#fromUs;
      this.#intervals.begin(this.#startUs, nowUs);
      this.#load.start(shard.checkLength ? control.referenceBytes : -1, this.#startUs, this.#fromUs);
      // Intervals that are over already are empty: what is sent now belongs into the one that is going on.
      this.#intervals.advance(nowUs);
    }
  }

  #stop(nowUs: number): void {
    const { stopAtUs } = this.#options.control;
    if (stopAtUs > 0) this.#stopSkewUs ??= nowUs - stopAtUs;
    this.#end(nowUs, COUNTER.notSentStopped);
  }

  #checkBudget(nowUs: number): void {
    // What a fatal error leaves over is booked by the next turn.
    if (this.#fatal !== undefined) return;
    if (this.#phase === 'running') {
      if (nowUs >= this.#timeOverUs()) {
        this.#stopSkewUs = nowUs - this.#timeOverUs();
        this.#load.feedRest(nowUs);
        // What a stall at the very end held up gets the same grace as replies; an old queue gets none.
        const isQueueShort = this.#source.isPaced && this.#source.nextUs >= nowUs - DRAIN_MS * 1_000;
        if (!isQueueShort) this.#source.close(nowUs, COUNTER.notSentTimeOver, this.#load.isStarved);
        this.#drainUntilUs = nowUs + Math.min(this.#options.shard.timeoutMs, DRAIN_MS) * 1_000;
        this.#move('draining');
      } else if (this.#source.isExhausted && this.#load.inFlight === 0) this.#end(nowUs);
    }
    if (this.#phase !== 'draining') return;
    const isDrained = this.#load.inFlight === 0 && this.#source.nextUs === Number.POSITIVE_INFINITY;
    if (isDrained || nowUs >= this.#drainUntilUs) this.#end(nowUs, COUNTER.notSentTimeOver);
  }

  #timeOverUs(): number {
    const { durationMs, warmupMs = 0 } = this.#options.shard;
    if (durationMs === undefined) return Number.POSITIVE_INFINITY;
    return this.#startUs + (warmupMs + durationMs) * 1_000;
  }

  #nextUs(nowUs: number): number {
    let nextUs = Math.min(nowUs + CONTROL_POLL_US, this.#load.nextUs, this.#intervals.boundaryUs);
    if (this.#options.control.command === COMMAND.stop)
      nextUs = Math.min(nextUs, this.#options.control.stopAtUs);
    if (this.#phase === 'armed') nextUs = Math.min(nextUs, this.#fromUs);
    if (this.#phase === 'running') nextUs = Math.min(nextUs, this.#timeOverUs());
    if (this.#phase === 'draining') nextUs = Math.min(nextUs, this.#drainUntilUs);
    return nextUs;
  }

  #onProbed({ tookUs, status, bodyBytes, fatal }: ProbeOutcome): void {
    this.#move('ready');
    this.#intervals.noteProbe(tookUs);
    const server = this.#load.serverName.value;
    const reply = { ok: true, status, bodyBytes, ...(server === '' ? {} : { server }) } as const;
    const outcome = fatal === undefined ? reply : ({ ok: false, fatal: this.#withReason(fatal) } as const);
    this.#options.sink.onProbed(outcome, tookUs);
  }

  #onFatal(fatal: Fatal): void {
    this.#fatal ??= this.#withReason(fatal);
    this.#source.stop();
    this.wake();
  }

  /** With what the transport knows about failures whose class does not say enough. */
  #withReason(fatal: Fatal): Fatal {
    const reason = this.#prepared.transport.facts?.lastReason ?? '';
    const isVague = fatal.failureClass === 'tls' || fatal.failureClass === 'connectOther';
    return isVague && reason !== '' ? { ...fatal, message: `${fatal.message}: ${reason}` } : fatal;
  }

  /** @param counter why what is left of the budget was not sent; absent when nothing is left. */
  #end(nowUs: number, counter?: number): void {
    if (this.#intervals.boundaryUs === Number.POSITIVE_INFINITY) this.#intervals.begin(nowUs, nowUs);
    this.#intervals.endWarmup(nowUs);
    if (counter !== undefined) {
      const isStarved = counter === COUNTER.notSentTimeOver && this.#load.isStarved;
      this.#source.close(nowUs, counter, isStarved);
    }
    this.#load.end();
    this.#move('ended');
    const { addresses, used, transport } = this.#prepared;
    const { note, tls, reasons = [] } = transport.facts ?? {};
    this.#options.sink.onEnded({
      totals: this.#intervals.end(nowUs),
      ...(this.#fatal === undefined ? {} : { fatal: this.#fatal }),
      server: this.#load.serverName.value,
      firstReply: this.#load.firstReply?.text ?? '',
      addresses,
      address: used[0] ?? '',
      used,
      transport: transport.name,
      ...(note === undefined ? {} : { transportNote: note }),
      ...(tls === undefined ? {} : { tls }),
      failureReasons: reasons,
      startSkewUs: this.#startSkewUs,
      ...(this.#stopSkewUs === undefined ? {} : { stopSkewUs: this.#stopSkewUs }),
    });
  }

  #move(to: EnginePhase): void {
    this.#phase = movePhase(this.#phase, to);
  }
}

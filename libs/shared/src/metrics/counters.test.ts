import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION } from '../wire/protocol-version.js';
import {
  addCounters,
  COUNTER,
  COUNTER_NAMES,
  counterOf,
  countersFromRecord,
  countersToRecord,
  FIRST_FAILURE,
  failedOf,
  newCounters,
  notSentOf,
} from './counters.js';
import { FAILURE, FAILURE_CLASSES } from './failure-class.js';
import { GAUGE_NAMES, HISTOGRAM_NAMES } from './interval.js';

describe('names on the wire', () => {
  it('keep their order within a protocol version: frames carry positions, not names', () => {
    // A change here is a change of the protocol: bump PROTOCOL_VERSION and docs/PROTOCOL.md with it.
    expect({
      protocol: PROTOCOL_VERSION,
      counters: COUNTER_NAMES.join(' '),
      histograms: HISTOGRAM_NAMES.join(' '),
      gauges: GAUGE_NAMES.join(' '),
    }).toEqual({
      protocol: 2,
      counters:
        'planned notSentTimeOver notSentNoConnection notSentStopped notSentFatal sent ' +
        'waitedForConnection retried completed inFlightAtEnd non2xx keepAliveReplies ' +
        'repliesWithSurplus connectionsAsked connectionsOpened connectionsFailed ' +
        'connectionsClosedByUs connectionsLeftToUs connectionsClosedAnnounced ' +
        'connectionsClosedUnannounced connectionsClosedIdle bytesReceived bodyBytesReceived ' +
        'bytesSent connectRefused connectTimeout connectUnreachable noLocalPort noDescriptor ' +
        'connectOther tls write resetBeforeFirstByte resetAfterFirstByte closedWithoutReplyNew ' +
        'closedWithoutReplyReused pipelineEnded truncated malformed tooLarge timeout lengthDiffers ' +
        'status',
      histograms:
        'connect wait reused fresh freshProcessing corrected sendLag servedClosedByUs ' +
        'servedClosedAnnounced servedClosedUnannounced servedClosedIdle tls',
      gauges:
        'inFlight openConnections busyShare cpuUs sendLagMaxUs firstSendUs lastEventUs elapsedUs ' +
        'runDelayUs stealShare involuntarySwitches gcPauseUs descriptors openConnectionsMax',
    });
  });

  it('are all different', () => {
    expect(new Set(COUNTER_NAMES).size).toBe(COUNTER_NAMES.length);
  });

  it('put the failure classes last, in their own order', () => {
    for (const name of FAILURE_CLASSES) expect(COUNTER[name]).toBe(FIRST_FAILURE + FAILURE[name]);
    expect(FIRST_FAILURE + FAILURE_CLASSES.length).toBe(COUNTER_NAMES.length);
  });
});

describe('counters', () => {
  const numbered = () => newCounters().map((_, i) => i + 1);

  it('add up place by place', () => {
    const sum = numbered();
    addCounters(sum, numbered());
    expect([...sum]).toEqual(COUNTER_NAMES.map((_, i) => 2 * (i + 1)));
  });

  it('become a record and counters again', () => {
    const record = countersToRecord(numbered());
    expect(record.planned).toBe(1);
    expect(countersFromRecord(record)).toEqual(numbered());
  });

  it('sum up failures and what was not sent', () => {
    const counters = newCounters();
    for (const name of FAILURE_CLASSES) counters[COUNTER[name]] = 1;
    counters[COUNTER.completed] = 100;
    counters[COUNTER.notSentFatal] = 1;
    counters[COUNTER.notSentStopped] = 2;
    counters[COUNTER.notSentTimeOver] = 4;
    expect(failedOf(counters)).toBe(FAILURE_CLASSES.length);
    expect(notSentOf(counters)).toBe(7);
    expect(counterOf(counters, 'completed')).toBe(100);
  });
});

/// <reference types="node" />
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_STATUS } from '../errors.js';
import { COUNTER_NAMES } from '../metrics/counters.js';
import { FAILURE_CLASSES } from '../metrics/failure-class.js';
import { GAUGE_NAMES, HISTOGRAM_NAMES } from '../metrics/interval.js';
import { agentMessageSchema } from './agent-message.js';
import { coordinatorMessageSchema } from './coordinator-message.js';
import { liveMessageSchema, RUN_STATES } from './live-message.js';
import { PROTOCOL_VERSION } from './protocol-version.js';
import { ROUTES } from './rest.js';

const document = (name: string): string =>
  readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const protocol = document('PROTOCOL.md');
const measurement = document('MEASUREMENT.md');

/** One part of a document: from its heading to the next one of the same depth. */
function section(text: string, heading: string): string {
  const start = text.indexOf(`\n## ${heading}\n`);
  if (start < 0) throw new Error(`no section ${heading}`);
  const end = text.indexOf('\n## ', start + 1);
  return text.slice(start, end < 0 ? undefined : end);
}

/** Words of the first column of the tables of a section. */
function firstColumn(text: string): string[] {
  return [...text.matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1] ?? '');
}

function kindsOf(
  schema: typeof agentMessageSchema | typeof coordinatorMessageSchema | typeof liveMessageSchema,
) {
  return schema.options.map((option) => option.shape.kind.value);
}

describe('docs/PROTOCOL.md', () => {
  it.each([
    ['Agent to coordinator', agentMessageSchema],
    ['Coordinator to agent', coordinatorMessageSchema],
    ['Watchers', liveMessageSchema],
  ])('lists every kind of message, and no other, under %s', (heading, schema) => {
    expect(firstColumn(section(protocol, heading))).toEqual(kindsOf(schema));
  });

  it('names the protocol version', () => {
    expect(protocol).toContain(`\`PROTOCOL_VERSION\` (now ${PROTOCOL_VERSION})`);
  });

  it.each([
    ['Counters', COUNTER_NAMES],
    ['Histograms', HISTOGRAM_NAMES],
    ['Gauges', GAUGE_NAMES],
  ])('lists %s in the order of the wire', (heading, names) => {
    const list = protocol.slice(protocol.indexOf(`\n${heading}`, protocol.indexOf('### Order of the lists')));
    const words = [...list.matchAll(/`(\w+)`/g)].slice(0, names.length).map((match) => match[1]);
    expect(words).toEqual(names);
  });

  it('says how many counters there are', () => {
    expect(protocol).toContain(`Counters, 1 to ${COUNTER_NAMES.length}:`);
  });

  it('names every state, route and error code', () => {
    const states = section(protocol, 'Watchers');
    for (const state of RUN_STATES) expect(states).toContain(`\`${state}\``);
    const rest = section(protocol, 'REST');
    for (const route of Object.values(ROUTES)) expect(rest).toContain(`\`${route}`);
    for (const [code, status] of Object.entries(ERROR_STATUS))
      expect(rest).toContain(`\`${code}\` ${status}`);
  });
});

describe('docs/MEASUREMENT.md', () => {
  it('explains every counter, failure class, histogram and gauge once', () => {
    const explained = firstColumn(measurement).toSorted();
    const verdicts = [
      'inconclusive',
      'aborted',
      'fail',
      'pass',
      'generator',
      'plan',
      'network',
      'target',
      'undecided',
    ];
    const names = [...COUNTER_NAMES, ...HISTOGRAM_NAMES, ...GAUGE_NAMES, ...verdicts].toSorted();
    expect(explained).toEqual(names);
  });

  it('explains the failure classes in one table', () => {
    expect(firstColumn(section(measurement, 'Failure classes')).toSorted()).toEqual(
      FAILURE_CLASSES.toSorted(),
    );
  });
});

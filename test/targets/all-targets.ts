// Every way of misbehaving by one name, for tests that send the same load at all of them.

import { ClosingTarget } from './closing-target.js';
import { EndlessTarget } from './endless-target.js';
import { GarbageTarget, garbageKinds } from './garbage-target.js';
import { OddFramingTarget, oddFramings } from './odd-framing-target.js';
import { RefusingTarget } from './refusing-target.js';
import { ResettingTarget } from './resetting-target.js';
import { SilentTarget } from './silent-target.js';
import type { Target } from './target-server.js';
import { WellBehavedTarget } from './well-behaved-target.js';
import { WrongLengthTarget } from './wrong-length-target.js';

type NamedTarget = readonly [name: string, create: () => Target];

const closing = (['after-reply', 'close-after-reply', 'on-next-request', 'announced'] as const).map(
  (manner): NamedTarget => [`closes: ${manner}`, () => new ClosingTarget({ everyReplies: 100, manner })],
);
const resetting = (['at-accept', 'before-first-byte', 'after-first-byte'] as const).map(
  (when): NamedTarget => [`resets: ${when}`, () => new ResettingTarget({ when })],
);
const wrongLengths = (
  [
    'truncated-body',
    'truncated-chunk',
    'missing-last-chunk',
    'truncated-header',
    'announces-more',
    'announces-less',
    'varying',
  ] as const
).map((kind): NamedTarget => [`length: ${kind}`, () => new WrongLengthTarget(kind)]);
const silent = (
  ['never-answers', 'never-reads', 'stops-after-header', 'stops-in-status-line', 'drips'] as const
).map((kind): NamedTarget => [`silent: ${kind}`, () => new SilentTarget(kind)]);
const endless = (
  ['megabyte-header', 'header', 'header-line', 'body', 'chunks', 'interim-replies'] as const
).map((kind): NamedTarget => [`endless: ${kind}`, () => new EndlessTarget(kind)]);

/** Name and maker of each misbehaving target. None has been started. */
export const misbehavingTargets: readonly NamedTarget[] = [
  ['status: 500', () => new WellBehavedTarget({ status: '500 Internal Server Error' })],
  ['refuses', () => new RefusingTarget()],
  ...closing,
  ...resetting,
  ...wrongLengths,
  ...silent,
  ...endless,
  ...garbageKinds.map((kind): NamedTarget => [`garbage: ${kind}`, () => new GarbageTarget(kind)]),
];

/** Name and maker of each target that answers correctly, though in an unusual way. */
export const unusualTargets: readonly NamedTarget[] = oddFramings.map((kind) => [
  `odd framing: ${kind}`,
  () => new OddFramingTarget(kind),
]);

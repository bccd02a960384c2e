import { expect, it } from 'vitest';
import {
  abBanner,
  abBenchmarkingLine,
  abFinishLine,
  abHasProgress,
  abProgressLine,
  abProgressStep,
} from './ab-progress.js';

it('opens with a banner that readers of ab accept', () => {
  expect(abBanner()).toMatch(
    /^This is ApacheBench, Version 2\.3 <\$Revision: [^$]+ \$>\nCopyright 1996 Adam Twiss.*\nLicensed .*\n\n$/,
  );
});

it.each([
  [150, false, false],
  [151, false, true],
  [151, true, false],
  [undefined, false, true],
])('with %s requests and quiet %s, progress is %s', (requests, isQuiet, expected) => {
  expect(abHasProgress(requests, isQuiet)).toBe(expected);
});

it.each([
  [151, 100],
  [1_055, 105],
  [1_000_000, 100_000],
  [undefined, 5_000],
])('of %s requests it shows every %s', (requests, step) => {
  expect(abProgressStep(requests)).toBe(step);
});

it('writes one line on stdout without progress, and lines on stderr with it', () => {
  expect(abBenchmarkingLine('h', false) + abFinishLine(9, false).text).toBe(
    'Benchmarking h (be patient).....done\n',
  );
  expect(abBenchmarkingLine('h', true)).toBe('Benchmarking h (be patient)\n');
  expect(abProgressLine(100)).toBe('Completed 100 requests\n');
  expect(abFinishLine(200, true)).toEqual({ stream: 'stderr', text: 'Finished 200 requests\n' });
  expect(abFinishLine(9, false).stream).toBe('stdout');
});

import { frameHarness } from './frame-harness.js';
import type { FuzzHarness } from './fuzz-harness.js';
import { planHarness } from './plan-harness.js';
import { responseParserHarness } from './response-parser-harness.js';

/** Everything that reads what a stranger wrote, and is fuzzed. */
export const ALL_HARNESSES: readonly FuzzHarness[] = [responseParserHarness(), frameHarness(), planHarness()];

import { EXIT, numberOrText } from '@broadside/shared';
import { CliError } from '../cli-error.js';
import type { ReadFlags } from '../flags.js';

/** Flags that say when requests are sent. */
export const LOAD_FLAGS = {
  rate: { type: 'string', short: 'r' },
  arrivals: { type: 'string' },
  seed: { type: 'string' },
  stage: { type: 'string', multiple: true },
  warmup: { type: 'string' },
  pipeline: { type: 'string' },
  'retry-idempotent': { type: 'boolean' },
} as const;

type LoadValues = ReadFlags<typeof LOAD_FLAGS>['values'];

/** Field of the plan to the flags that give it. */
export const FLAGS_OF_LOAD_FIELD = {
  rate: ['rate'],
  arrivals: ['arrivals'],
  seed: ['seed'],
  stages: ['stage'],
  warmupMs: ['warmup'],
  warmup: ['warmup'],
  pipeline: ['pipeline'],
  retryIdempotent: ['retry-idempotent'],
} as const;

/**
 * The fields of the plan that these flags give; what is no number stays text, and the schema says what is wrong.
 * @throws CliError with EXIT.usage for a stage in no known form.
 */
export function loadPlanFields(values: LoadValues): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  if (values.rate !== undefined) fields['rate'] = numberOrText(values.rate);
  if (values.arrivals !== undefined) fields['arrivals'] = values.arrivals;
  if (values.seed !== undefined) fields['seed'] = numberOrText(values.seed);
  if (values.stage !== undefined) fields['stages'] = values.stage.map(stageOf);
  if (values.warmup !== undefined) {
    fields['warmup'] = values.warmup;
    fields['warmupMs'] = undefined;
  }
  if (values.pipeline !== undefined) fields['pipeline'] = numberOrText(values.pipeline);
  if (values['retry-idempotent'] === true) fields['retryIdempotent'] = true;
  return fields;
}

/** `30s:1000` for a rate, `30s:50c` for connections. */
function stageOf(text: string): Record<string, unknown> {
  const [, duration, value = '', isConnections] = /^([^:]+):([^c]+)(c?)$/.exec(text) ?? [];
  const end = numberOrText(value);
  if (duration === undefined || typeof end !== 'number') {
    const example = 'like 30s:1000 for a rate, or 30s:50c for connections';
    throw new CliError(
      EXIT.usage,
      `--stage ${JSON.stringify(text)}: must be a duration and a value, ${example}`,
    );
  }
  return { duration, [isConnections === 'c' ? 'connections' : 'rate']: end };
}

import { ClosedLoad } from './closed-load.js';
import type { Load, LoadOptions } from './load.js';
import { PacedLoad } from './paced-load.js';

/** The kind of load that its source of requests wants. */
export function openLoad(options: LoadOptions): Load {
  return options.source.isPaced ? new PacedLoad(options) : new ClosedLoad(options);
}

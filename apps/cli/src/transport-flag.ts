import type { AgentOptions } from '@broadside/agent';
import { EXIT } from '@broadside/shared';
import { CliError } from './cli-error.js';

export type TransportWish = NonNullable<AgentOptions['transport']>;

/** The agent's own list, repeated here so that a wrong word is refused before the agent is loaded. */
const WISHES: Readonly<Record<TransportWish, true>> = {
  auto: true,
  io_uring: true,
  epoll: true,
  socket: true,
};

export const TRANSPORT_NAMES: readonly string[] = Object.keys(WISHES);

export function isTransportWish(text: string): text is TransportWish {
  return Object.hasOwn(WISHES, text);
}

/**
 * How the engines of this process speak to plain TCP targets; undefined when nothing is asked for.
 * @param name what gave it.
 * @throws CliError with EXIT.usage.
 */
export function transportFlag(text: string | undefined, name = '--transport'): TransportWish | undefined {
  if (text === undefined || isTransportWish(text)) return text;
  throw new CliError(
    EXIT.usage,
    `${name} ${JSON.stringify(text)}: must be one of ${TRANSPORT_NAMES.join(', ')}`,
  );
}

import type { IncomingMessage } from 'node:http';
import {
  BroadsideError,
  isFinalState,
  LIVE_PROTOCOL,
  type LiveMessage,
  runIdSchema,
} from '@broadside/shared';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { CoordinatorEvents } from '../events.js';
import { refuseUpgrade, type Upgrade } from '../http/upgrade-router.js';
import { LiveFanout, type Watcher } from './live-fanout.js';

type StateMessage = Extract<LiveMessage, { kind: 'state' }>;

export interface LiveGatewayParts {
  readonly events: CoordinatorEvents;
  readonly stateOf: (runId: string) => Promise<StateMessage>;
  /** Whether a token is still good, asked again where something was waited for. */
  readonly isValid: (tokenId: string) => boolean;
  readonly log: Logger;
}

/** Watchers send nothing but pongs and the end. */
const MAX_WATCHER_MESSAGE_BYTES = 1_024;
const CLOSE_TIMEOUT_MS = 1_000;

/** The WebSocket endpoint of watchers: the state of one run at once, then its states and seconds. */
export class LiveGateway {
  readonly #parts: LiveGatewayParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_WATCHER_MESSAGE_BYTES,
    perMessageDeflate: false,
    // A browser offers its ticket beside this one, and must get one back of those that it offered.
    handleProtocols: (offered) => (offered.has(LIVE_PROTOCOL) ? LIVE_PROTOCOL : false),
  });
  /** Each watcher with the token that it was let in with. */
  readonly #holders = new Map<WebSocket, string>();
  readonly #fanout = new LiveFanout();

  constructor(parts: LiveGatewayParts) {
    this.#parts = parts;
    parts.events.on('live-message', (message) => this.#fanout.publish(message));
    parts.events.on('token-ended', ({ tokenId, reason }) => {
      for (const [socket, heldId] of this.#holders) if (heldId === tokenId) socket.close(1008, reason);
    });
  }

  upgrade(upgrade: Upgrade): void {
    this.#accept(upgrade).catch((error: unknown) => {
      this.#parts.log.error({ err: error }, 'a watcher could not be accepted');
      refuseUpgrade(upgrade.socket, 500, 'Internal Server Error');
    });
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.close(1001, 'the coordinator is stopping');
    const timer = setTimeout(() => {
      for (const client of this.#server.clients) client.terminate();
    }, CLOSE_TIMEOUT_MS);
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    clearTimeout(timer);
  }

  async #accept({ request, socket, head, caller }: Upgrade): Promise<void> {
    const { isValid, stateOf } = this.#parts;
    if (this.#fanout.isFull) {
      refuseUpgrade(socket, 503, 'Service Unavailable', 'too many watchers');
      return;
    }
    const runId = runIdOf(request);
    if (runId === undefined) {
      refuseUpgrade(socket, 400, 'Bad Request', 'name the run: ?run=<id>');
      return;
    }
    try {
      await stateOf(runId);
    } catch (error) {
      if (!(error instanceof BroadsideError) || error.code !== 'notFound') throw error;
      refuseUpgrade(socket, 404, 'Not Found', error.message);
      return;
    }
    if (!isValid(caller.tokenId)) {
      refuseUpgrade(socket, 401, 'Unauthorized', 'the token has ended');
      return;
    }
    this.#server.handleUpgrade(request, socket, head, (accepted) => {
      this.#holders.set(accepted, caller.tokenId);
      accepted.once('close', () => this.#holders.delete(accepted));
      void this.#watch(runId, accepted);
    });
  }

  async #watch(runId: string, socket: WebSocket): Promise<void> {
    const watcher: Watcher = {
      get bufferedBytes() {
        return socket.bufferedAmount;
      },
      send: (text) => socket.send(text),
      end: () => socket.close(1000),
    };
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.#fanout.remove(runId, watcher));
    // Watching before asking: what happens in between is sent twice rather than never.
    this.#fanout.add(runId, watcher);
    try {
      const state = await this.#parts.stateOf(runId);
      watcher.send(JSON.stringify(state));
      if (isFinalState(state.state)) watcher.end();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the state of a run could not be read');
      socket.close(1011, 'the state of the run could not be read');
    }
  }
}

function runIdOf(request: IncomingMessage): string | undefined {
  const address = `http://host${request.url ?? '/'}`;
  if (!URL.canParse(address)) return undefined;
  const parsed = runIdSchema.safeParse(new URL(address).searchParams.get('run'));
  return parsed.success ? parsed.data : undefined;
}

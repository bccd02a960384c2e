/**
 * Stops all load of all runs at once, and keeps new ones away until it is released, over restarts too. The order to
 * stop goes over the agents' sockets: it needs neither the queue nor the store.
 *
 *   kill ─► no run is taken in ─► every agent: halt ─► every run: stop ─► stored
 */
import { BroadsideError, type KillState, killStateSchema } from '@broadside/shared';
import type { Logger } from 'pino';
import type { AgentRegistry } from '../agent/agent-registry.js';
import type { CoordinatorEvents } from '../events.js';
import type { SettingsRepository } from './settings.repository.js';

const NAME = 'kill-switch';

export interface KillSwitchParts {
  readonly settings: Pick<SettingsRepository, 'save'>;
  readonly registry: Pick<AgentRegistry, 'sendAll' | 'send'>;
  readonly events: Pick<CoordinatorEvents, 'on'>;
  /** Ends every run that runs or waits. @returns how many. */
  readonly stopRuns: (reason: string) => Promise<number>;
  readonly now: () => Date;
  readonly log: Logger;
}

/** As an earlier coordinator on the same store left it. */
export async function loadKillState(settings: Pick<SettingsRepository, 'load'>): Promise<KillState> {
  return (await settings.load(NAME, killStateSchema)) ?? { isOn: false };
}

export class KillSwitch {
  readonly #parts: KillSwitchParts;
  #state: KillState;

  constructor(state: KillState, parts: KillSwitchParts) {
    this.#state = state;
    this.#parts = parts;
    // One that was away, or is new to this coordinator, may be under load from before.
    parts.events.on('agent-joined', ({ agentId }) => {
      if (this.#state.isOn) parts.registry.send(agentId, { kind: 'halt', reason: this.#reason });
    });
  }

  get state(): KillState {
    return this.#state;
  }

  /** @throws BroadsideError conflict while it is on. */
  assertOff(): void {
    if (!this.#state.isOn) return;
    throw new BroadsideError('conflict', `no run is taken in: ${this.#reason}`, {
      hint: 'an admin lets runs in again with `broadside kill --release`',
    });
  }

  /** Ends what an earlier coordinator was told to end. */
  async enforce(): Promise<void> {
    if (this.#state.isOn) await this.#stopAll();
  }

  /** @throws BroadsideError unavailable when all load was stopped, but a restart would not know of it. */
  async kill(reason: string | undefined): Promise<KillState> {
    const why = reason === undefined ? 'the kill switch is on' : `the kill switch is on: ${reason}`;
    this.#state = { isOn: true, reason: why, since: this.#parts.now().toISOString() };
    this.#parts.log.warn(`all load is stopped: ${why}`);
    // Stored beside the stopping and not before it: a slow store must not hold the stop up.
    const saving = this.#parts.settings.save(NAME, this.#state);
    const [saved, ended] = await Promise.allSettled([saving, this.#stopAll()]);
    for (const { status, ...rest } of [saved, ended]) {
      if (status !== 'rejected') continue;
      this.#parts.log.error(
        { err: 'reason' in rest ? rest.reason : undefined },
        'the kill switch is not stored',
      );
      throw new BroadsideError('unavailable', 'all load is stopped, but that could not be stored', {
        hint: 'a restarted coordinator would take runs in: say it again when the store is back',
      });
    }
    return { ...this.#state, endedRuns: ended.status === 'fulfilled' ? ended.value : 0 };
  }

  /** @throws Error when it could not be stored; then it stays on. */
  async release(): Promise<KillState> {
    const off: KillState = { isOn: false };
    await this.#parts.settings.save(NAME, off);
    if (this.#state.isOn) this.#parts.log.warn('the kill switch is released: runs are taken in again');
    this.#state = off;
    return off;
  }

  get #reason(): string {
    return this.#state.reason ?? 'the kill switch is on';
  }

  #stopAll(): Promise<number> {
    this.#parts.registry.sendAll({ kind: 'halt', reason: this.#reason });
    return this.#parts.stopRuns(this.#reason);
  }
}

import {
  BroadsideError,
  demandOf,
  type LoadCeilings,
  type Plan,
  refusedTargetOf,
  type TargetPolicy,
  whyAboveCeilings,
  whyNoRoom,
} from '@broadside/shared';
import type { KillSwitch } from './kill-switch.js';

export interface PlanGateOptions {
  readonly targets: TargetPolicy;
  readonly ceilings: LoadCeilings;
  readonly killSwitch: Pick<KillSwitch, 'assertOff'>;
}

/** What every plan must pass before anything of it is stored or queued, and before it starts. */
export class PlanGate {
  readonly #options: PlanGateOptions;

  constructor(options: PlanGateOptions) {
    this.#options = options;
  }

  /** @throws BroadsideError notAllowed, or conflict while the kill switch is on. */
  assertAllowed(plan: Plan): void {
    const { killSwitch, targets, ceilings } = this.#options;
    killSwitch.assertOff();
    const refusal = refusedTargetOf(targets, plan);
    if (refusal !== undefined) {
      const { place, why } = refusal;
      throw new BroadsideError('notAllowed', `the target policy does not allow load on ${place}: ${why}`, {
        hint: 'an admin can change the rules: --allow-target and --deny-target of `broadside serve`',
      });
    }
    const tooMuch = whyAboveCeilings(ceilings, demandOf(plan));
    if (tooMuch === undefined) return;
    throw new BroadsideError('notAllowed', tooMuch, {
      hint: 'an admin can change the ceilings: --max-run-rate and the like of `broadside serve`',
    });
  }

  /** Why the plan cannot start beside these; undefined when all together stay under the ceilings. */
  whyHeld(plan: Plan, running: readonly Plan[]): string | undefined {
    return whyNoRoom(this.#options.ceilings, demandOf(plan), running.map(demandOf));
  }
}

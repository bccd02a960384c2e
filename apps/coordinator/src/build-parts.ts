/** All parts of a coordinator that are behind its doors, put together. */
import {
  type KillState,
  type LoadCeilings,
  type QueueAddress,
  ROUTES,
  targetPolicyOf,
} from '@broadside/shared';
import type { Logger } from 'pino';
import type { Access } from './access/access.js';
import type { Tickets } from './access/tickets.js';
import { TokenRepository } from './access/token.repository.js';
import { TokenService } from './access/token.service.js';
import { AgentGateway } from './agent/agent.gateway.js';
import { AgentRegistry } from './agent/agent-registry.js';
import { AuditRepository } from './audit/audit.repository.js';
import { AuditLog } from './audit/audit-log.js';
import { systemClock, systemTimers } from './clock.js';
import type { Config } from './config/config.schema.js';
import { CoordinatorEvents } from './events.js';
import { Health } from './health/health.js';
import { UpgradeRouter } from './http/upgrade-router.js';
import { IntervalRepository } from './interval/interval.repository.js';
import { IntervalWriter } from './interval/interval-writer.js';
import { LiveGateway } from './live/live.gateway.js';
import type { QueueWiring } from './queue/bull-wiring.js';
import { keptRuns, OldRuns } from './run/old-runs.js';
import { RunRepository } from './run/run.repository.js';
import { RunService } from './run/run.service.js';
import { KillSwitch, loadKillState } from './safety/kill-switch.js';
import { PlanGate } from './safety/plan-gate.js';
import { SettingsRepository } from './safety/settings.repository.js';
import { ShardSigner } from './safety/shard-signer.js';
import { openSigningKeys, type SigningKeys } from './safety/signing-keys.js';
import { targetRulesOf } from './safety/target-rules.js';
import { ShardQueue } from './shard/shard-queue.js';
import type { LostStoreError } from './storage/lost-store.js';
import type { Store } from './storage/store.js';
import { StorePatience } from './storage/store-patience.js';

export interface PartsInput {
  readonly config: Config;
  readonly store: Store;
  readonly wiring: QueueWiring;
  readonly queuePrefix: string;
  readonly access: Access;
  readonly keys: SigningKeys;
  readonly killState: KillState;
  readonly log: Logger;
}

export interface Parts {
  readonly events: CoordinatorEvents;
  readonly registry: AgentRegistry;
  readonly runs: RunService;
  readonly agents: AgentGateway;
  readonly live: LiveGateway;
  readonly upgrades: UpgradeRouter;
  readonly health: Health;
  readonly tokens: TokenService;
  readonly tickets: Tickets;
  readonly audit: AuditLog;
  readonly killSwitch: KillSwitch;
}

/** What there is when store and queue are open. */
export interface Building {
  readonly wiring: QueueWiring;
  readonly parts: Parts;
}

/** What an earlier coordinator on the same store has left, or what this one begins with. */
export async function loadState(store: Store): Promise<Pick<PartsInput, 'keys' | 'killState'>> {
  const settings = new SettingsRepository(store);
  return { keys: await openSigningKeys(settings, Date.now()), killState: await loadKillState(settings) };
}

export function buildParts(input: PartsInput): Parts {
  const { config, store, wiring, access, keys, log } = input;
  const events = new CoordinatorEvents();
  const registry = new AgentRegistry(systemClock);
  const onGone = (lost: LostStoreError): void => runs.storeLost(lost);
  const patience = new StorePatience({ log, whyGone: () => store.whyGone(), onGone });
  const intervals = new IntervalRepository(store, patience);
  const writer = new IntervalWriter(intervals, log);
  const queue = new ShardQueue(wiring, new ShardSigner(keys.privateKey, systemClock), log);
  const targets = targetRulesOf(config);
  const killSwitch = new KillSwitch(input.killState, {
    settings: new SettingsRepository(store),
    registry,
    events,
    stopRuns: (reason) => runs.stopAll(reason),
    now,
    log,
  });
  const runs: RunService = new RunService({
    gate: new PlanGate({ targets: targetPolicyOf(targets), ceilings: ceilingsOf(config), killSwitch }),
    registry,
    queue,
    writer,
    intervals,
    runs: new RunRepository(store, patience),
    events,
    clock: systemClock,
    timers: systemTimers,
    log,
    // Agents in this process, and their queue, went with the coordinator before.
    canResume: wiring.kind === 'redis',
  });
  new OldRuns(store, log, keptRuns(config.keepRuns)).follow(events);
  const agents = new AgentGateway({
    registry,
    events,
    writer,
    queue: queueAddressOf(config, input.queuePrefix),
    targets,
    shardKeys: keys.publicKeys,
    clock: systemClock,
    log,
  });
  const { audit, tokens } = buildAccess(input, events);
  return {
    events,
    registry,
    runs,
    agents,
    ...openDoors({ events, runs, agents }, input),
    tokens,
    tickets: access.tickets,
    audit,
    killSwitch,
    health: new Health(store, queue, runs),
  };
}

/** The WebSockets: of agents, and of whoever watches a run. */
function openDoors(
  { events, runs, agents }: Pick<Parts, 'events' | 'runs' | 'agents'>,
  { access, log }: PartsInput,
): Pick<Parts, 'live' | 'upgrades'> {
  const live = new LiveGateway({
    events,
    stateOf: (runId) => runs.stateOf(runId),
    isValid: (tokenId) => access.registry.isValid(tokenId),
    log,
  });
  const upgrades = new UpgradeRouter(access.gate, log);
  upgrades.route(ROUTES.agentSocket, (upgrade) => agents.upgrade(upgrade));
  upgrades.route(ROUTES.live, (upgrade) => live.upgrade(upgrade));
  return { live, upgrades };
}

/** Who may do what, and who did what. */
function buildAccess(
  { access, store, log }: PartsInput,
  events: CoordinatorEvents,
): Pick<Parts, 'audit' | 'tokens'> {
  const audit = new AuditLog({ repository: new AuditRepository(store), now, log });
  access.failedLogins.told = (address, door) => audit.noteFailedLogin(address, door);
  access.forbiddenActs.told = (caller, action) => audit.noteForbidden(caller, action);
  const repository = new TokenRepository(store);
  return { audit, tokens: new TokenService({ registry: access.registry, repository, events, now, log }) };
}

function now(): Date {
  return new Date();
}

function ceilingsOf(config: Config): LoadCeilings {
  return {
    runRate: config.maxRunRate,
    clusterRate: config.maxRate,
    runConnections: config.maxRunConnections,
    clusterConnections: config.maxConnections,
  };
}

function queueAddressOf(config: Config, prefix: string): QueueAddress {
  const url = config.agentRedisUrl ?? config.redisUrl;
  return url === undefined ? { kind: 'embedded' } : { kind: 'redis', url, prefix };
}

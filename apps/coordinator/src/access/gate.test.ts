import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { BroadsideError, type TokenRole, tokenTextOf } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { Forwarding } from './forwarding.js';
import { Gate } from './gate.js';
import { LoginThrottle } from './login-throttle.js';
import { Tickets } from './tickets.js';
import { digestOf, TokenRegistry, tokenIdOf } from './token-registry.js';

const START_MS = Date.UTC(2026, 0, 1);
const LOOPBACK = { host: '127.0.0.1:7070' };

/** A gate with its tokens, and a clock that a test moves. */
class Scene {
  nowMs = START_MS;
  readonly registry = new TokenRegistry(() => new Date(this.nowMs));
  readonly tickets = new Tickets(this.registry, () => new Date(this.nowMs));
  readonly failures: string[] = [];
  readonly forbidden: string[] = [];
  readonly gate = new Gate({
    registry: this.registry,
    tickets: this.tickets,
    throttle: new LoginThrottle({ perAddress: 20, overall: 100 }, () => this.nowMs),
    forwarding: new Forwarding([]),
    onFailedLogin: (_address, needed) => this.failures.push(needed),
    onForbidden: ({ role, address }) => this.forbidden.push(`${role} from ${address}`),
  });

  add(role: TokenRole, expiresInMs?: number): { id: string; text: string } {
    const kind = role === 'agent' ? 'agent' : 'user';
    const text = tokenTextOf(
      kind,
      Uint8Array.from({ length: 32 }, () => this.registry.size),
    );
    const digest = digestOf(text);
    const id = tokenIdOf(digest);
    const expiresAt = expiresInMs === undefined ? undefined : new Date(this.nowMs + expiresInMs);
    this.registry.add({
      id,
      name: role,
      role,
      source: 'made',
      digest,
      createdAt: new Date(this.nowMs),
      expiresAt,
    });
    return { id, text };
  }

  /** Role of whoever was let in, or the code and the sentence of the refusal. */
  ask(needed: TokenRole, headers: Record<string, string>, method = 'GET'): string {
    const request = new IncomingMessage(new Socket());
    request.method = method;
    request.headers = { ...LOOPBACK, ...headers };
    try {
      return this.gate.admit(request, needed).role;
    } catch (error) {
      if (!(error instanceof BroadsideError)) throw error;
      return `${error.code}: ${error.message}`;
    }
  }
}

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });

describe('the gate', () => {
  it('lets each role do what is its own and what is less', () => {
    const scene = new Scene();
    const roles = ['viewer', 'operator', 'admin', 'agent'] as const;
    const tokens = roles.map((role) => scene.add(role).text);
    const answers = tokens.map((text) =>
      roles.map((needed) => scene.ask(needed, bearer(text)).split(':')[0]),
    );
    expect(answers).toEqual([
      ['viewer', 'forbidden', 'forbidden', 'unauthorized'],
      ['operator', 'operator', 'forbidden', 'unauthorized'],
      ['admin', 'admin', 'admin', 'unauthorized'],
      ['unauthorized', 'unauthorized', 'unauthorized', 'agent'],
    ]);
    expect(scene.forbidden.map((line) => line.split(' ')[0])).toEqual(['viewer', 'viewer', 'operator']);
  });

  it('says what is wrong with a token, and never repeats it', () => {
    const scene = new Scene();
    const { text, id } = scene.add('admin');
    const { text: agentText } = scene.add('agent');
    const stranger = tokenTextOf('user', new Uint8Array(32).fill(99));
    const answers = [
      scene.ask('viewer', {}),
      scene.ask('viewer', { authorization: text }),
      scene.ask('viewer', bearer(text.slice(0, -1))),
      scene.ask('viewer', bearer(stranger)),
      scene.ask('viewer', bearer(agentText)),
      scene.ask('agent', {}),
      scene.ask('agent', bearer('chosen-by-somebody')),
      scene.ask('agent', bearer(text)),
    ];
    scene.registry.revoke(id, new Date(scene.nowMs));
    answers.push(scene.ask('viewer', bearer(text)));
    expect(answers).toEqual([
      'unauthorized: a token is needed',
      'unauthorized: the token is not known here',
      'unauthorized: the token is damaged: cut off, or mistyped',
      'unauthorized: the token is not known here',
      'unauthorized: a join token is good for agents only',
      'unauthorized: the join token is missing',
      'unauthorized: the join token is wrong',
      'unauthorized: a token for people does not let an agent join',
      'unauthorized: the token was revoked',
    ]);
  });

  it('ends a token in time', () => {
    const scene = new Scene();
    const { text } = scene.add('admin', 60_000);
    scene.nowMs += 59_999;
    expect(scene.ask('admin', bearer(text))).toBe('admin');
    scene.nowMs += 1;
    expect(scene.ask('admin', bearer(text))).toBe('unauthorized: the token has expired');
    // The end of the last token opens nothing.
    expect(scene.ask('viewer', {})).toBe('unauthorized: a token is needed');
  });

  it('looks at no more guesses after too many, but still at made tokens', () => {
    const scene = new Scene();
    const { text } = scene.add('admin');
    const chosen = 'a-token-that-somebody-chose';
    const given = {
      id: 'given-admin',
      name: 'g',
      role: 'admin',
      source: 'given',
      createdAt: new Date(0),
    } as const;
    scene.registry.add({ ...given, digest: digestOf(chosen) });
    expect(scene.ask('admin', bearer(chosen))).toBe('admin');
    for (let i = 0; i < 20; i++) expect(scene.ask('admin', bearer(`guess-${i}`))).toMatch(/^unauthorized/);
    for (const guess of ['guess', chosen, text.slice(1), text.slice(0, -1)]) {
      expect(scene.ask('admin', bearer(guess))).toMatch(/^busy: too many wrong tokens/);
    }
    expect(scene.failures).toHaveLength(24);
    expect(scene.ask('admin', bearer(text))).toBe('admin');
    expect(scene.ask('admin', {})).toBe('unauthorized: a token is needed');
    scene.nowMs += 60_000;
    expect(scene.ask('admin', bearer(chosen))).toBe('admin');
  });

  it('is open to this machine while nobody has a token, and only to it', () => {
    const scene = new Scene();
    scene.add('agent');
    for (const host of ['127.0.0.1:7070', 'localhost', '[::1]:7070']) {
      expect(scene.ask('admin', { host }), host).toBe('admin');
    }
    for (const host of ['evil.example:7070', '127.0.0.1.evil.example', 'localhost.evil.example', 'a b']) {
      expect(scene.ask('viewer', { host }), host).toMatch(/^unauthorized: .* loopback names/);
    }
    expect(scene.ask('viewer', { 'x-forwarded-for': '192.0.2.1' })).toMatch(/through a proxy/);
    expect(scene.ask('agent', {})).toBe('unauthorized: the join token is missing');
  });

  it('keeps pages of other sites from everything that changes or stays open', () => {
    const scene = new Scene();
    const foreign = { origin: 'http://evil.example' };
    const answers = [
      scene.ask('viewer', { ...foreign, upgrade: 'websocket' }),
      scene.ask('operator', foreign, 'POST'),
      scene.ask('operator', foreign, 'DELETE'),
      scene.ask('operator', { origin: 'null' }, 'POST'),
      scene.ask('operator', { origin: 'http://127.0.0.1:7071' }, 'POST'),
    ];
    expect(answers).toEqual(answers.map(() => 'forbidden: a page of another site may not do this'));
    expect(scene.ask('operator', { origin: 'http://127.0.0.1:7070' }, 'POST')).toBe('admin');
  });
});

describe('a ticket', () => {
  const offer = (protocol: string): Record<string, string> => ({
    upgrade: 'websocket',
    'sec-websocket-protocol': `broadside.live, ${protocol}`,
  });

  it('lets its holder in once, with the role of the token it was got with', () => {
    const scene = new Scene();
    const { id } = scene.add('viewer');
    const { protocol } = scene.tickets.issue({ tokenId: id, name: 'n', role: 'viewer' });
    expect(scene.ask('viewer', offer(protocol))).toBe('viewer');
    expect(scene.ask('viewer', offer(protocol))).toBe('unauthorized: a token is needed');
    expect(scene.ask('viewer', offer(`${protocol.slice(0, -1)}x`))).toBe('unauthorized: a token is needed');
    expect(
      scene.ask('agent', offer(scene.tickets.issue({ tokenId: id, name: 'n', role: 'viewer' }).protocol)),
    ).toBe('unauthorized: the join token is missing');
  });

  it('ends after half a minute, and with its token', () => {
    const scene = new Scene();
    const { id } = scene.add('viewer');
    const principal = { tokenId: id, name: 'n', role: 'viewer' } as const;
    const late = scene.tickets.issue(principal);
    scene.nowMs += 30_000;
    expect(scene.ask('viewer', offer(late.protocol))).toMatch(/^unauthorized/);
    const revoked = scene.tickets.issue(principal);
    scene.registry.revoke(id, new Date(scene.nowMs));
    expect(scene.ask('viewer', offer(revoked.protocol))).toMatch(/^unauthorized/);
  });

  it('pushes out the oldest one when there are too many', () => {
    const scene = new Scene();
    const { id } = scene.add('viewer');
    const principal = { tokenId: id, name: 'n', role: 'viewer' } as const;
    const [first, ...others] = Array.from({ length: 1_001 }, () => scene.tickets.issue(principal));
    expect(scene.ask('viewer', offer(first?.protocol ?? ''))).toMatch(/^unauthorized/);
    expect(scene.ask('viewer', offer(others[0]?.protocol ?? ''))).toBe('viewer');
  });
});

describe('the registry', () => {
  it('names each expired token once, and a use once a minute', () => {
    const scene = new Scene();
    const { id, text } = scene.add('viewer', 100_000);
    for (const stepMs of [0, 59_999, 1]) {
      scene.nowMs += stepMs;
      scene.ask('viewer', bearer(text));
    }
    expect(scene.registry.takeUsed()).toEqual([{ id, lastUsedAt: new Date(START_MS + 60_000) }]);
    expect(scene.registry.takeUsed()).toEqual([]);
    expect(scene.registry.takeExpired()).toEqual([]);
    scene.nowMs += 100_000;
    expect(scene.registry.takeExpired()).toEqual([id]);
    expect(scene.registry.takeExpired()).toEqual([]);
  });

  it('knows a text once, whoever gives it again', () => {
    const scene = new Scene();
    const { text, id } = scene.add('viewer');
    const again = {
      id: 'given',
      name: 'g',
      role: 'admin',
      source: 'given',
      createdAt: new Date(START_MS),
    } as const;
    expect(scene.registry.add({ ...again, digest: digestOf(text) })).toBe(false);
    expect(scene.ask('viewer', bearer(text))).toBe('viewer');
    expect(scene.registry.summaries().map((summary) => summary.id)).toEqual([id]);
    expect(JSON.stringify(scene.registry.summaries())).not.toContain(text.slice(20, 60));
  });

  it('knows the last admin', () => {
    const scene = new Scene();
    const first = scene.add('admin', 60_000);
    expect(scene.registry.isLastAdmin(first.id)).toBe(true);
    const second = scene.add('admin');
    expect(scene.registry.isLastAdmin(first.id)).toBe(false);
    scene.nowMs += 60_000;
    expect(scene.registry.isLastAdmin(second.id)).toBe(true);
  });
});

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { BroadsideError, ROUTES } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { isLoopbackName, requireApiToken } from './access.js';
import { Secret } from './secret.js';

function requestOf(url: string, headers: Record<string, string> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.url = url;
  request.headers = headers;
  return request;
}

/** What the middleware hands on: undefined lets the request through. */
function verdictOn(request: IncomingMessage): unknown {
  let verdict: unknown;
  requireApiToken(new Secret('the-token'))(request, new ServerResponse(request), (error) => {
    verdict = error;
  });
  return verdict;
}

describe('access to the REST interface', () => {
  it('wants the token on every path below /api/, in any case of letters', () => {
    for (const url of [ROUTES.runs, '/API/runs', `${ROUTES.runs}/x?y=${ROUTES.openApi}`, '/api/nothing']) {
      expect(verdictOn(requestOf(url)), url).toBeInstanceOf(BroadsideError);
      expect(verdictOn(requestOf(url, { authorization: 'Bearer the-token' })), url).toBeUndefined();
      expect(verdictOn(requestOf(url, { authorization: 'the-token' })), url).toBeInstanceOf(BroadsideError);
    }
  });

  it('is open where nothing is told that is not public', () => {
    for (const url of [ROUTES.healthz, ROUTES.readyz, ROUTES.openApi, `${ROUTES.openApi}/json`]) {
      expect(verdictOn(requestOf(url)), url).toBeUndefined();
    }
  });

  it('tells loopback from names that only resolve to it', () => {
    for (const host of ['127.0.0.1:7070', 'localhost', '[::1]:7070']) {
      expect(isLoopbackName(requestOf('/', { host })), host).toBe(true);
    }
    for (const host of ['evil.example:7070', '127.0.0.1.evil.example', 'localhost.evil.example', 'a b']) {
      expect(isLoopbackName(requestOf('/', { host })), host).toBe(false);
    }
  });
});

describe('a secret', () => {
  it('matches itself and nothing else', () => {
    const secret = new Secret('the-token');
    expect(secret.matches('the-token')).toBe(true);
    for (const other of [undefined, '', 'the-toke', 'the-token ', 'THE-TOKEN']) {
      expect(secret.matches(other)).toBe(false);
    }
    expect(new Secret('').matches(undefined)).toBe(false);
  });
});

import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Forwarding, isNetwork } from './forwarding.js';

function requestFrom(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
  const request = new IncomingMessage(socket);
  request.headers = { host: 'inside:7070', ...headers };
  return request;
}

describe('what proxies say', () => {
  const forwarded = {
    'x-forwarded-for': '198.51.100.7, 203.0.113.5, 10.0.0.2',
    'x-forwarded-host': 'outside',
  };

  it('is not believed of anybody who was not named', () => {
    const nobody = new Forwarding([]);
    const request = requestFrom('10.0.0.1', forwarded);
    expect([nobody.addressOf(request), nobody.hostOf(request)]).toEqual(['10.0.0.1', 'inside:7070']);
    const others = new Forwarding(['10.0.1.0/24', 'fd00::/8']);
    expect([others.addressOf(request), others.hostOf(request)]).toEqual(['10.0.0.1', 'inside:7070']);
  });

  it('is believed as far as the chain is trusted, and what a client put before it is not', () => {
    const proxies = new Forwarding(['10.0.0.0/8']);
    const request = requestFrom('::ffff:10.0.0.1', forwarded);
    expect([proxies.addressOf(request), proxies.hostOf(request)]).toEqual(['203.0.113.5', 'outside']);
    expect(proxies.addressOf(requestFrom('10.0.0.1'))).toBe('10.0.0.1');
    expect(proxies.addressOf(requestFrom('10.0.0.1', { 'x-forwarded-for': 'nonsense' }))).toBe('10.0.0.1');
    expect(proxies.addressOf(requestFrom('10.0.0.1', { 'x-forwarded-for': '10.0.0.3' }))).toBe('10.0.0.3');
  });
});

it('knows addresses and networks', () => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8']) expect(isNetwork(text), text).toBe(true);
  for (const text of ['', 'proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'fd00::/129', '10.0.0/8']) {
    expect(isNetwork(text), text).toBe(false);
  }
});

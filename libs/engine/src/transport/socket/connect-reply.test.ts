import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { type ConnectReply, ConnectReplyReader } from './connect-reply.js';

function feedAll(pieces: readonly string[]): ConnectReply {
  const reader = new ConnectReplyReader();
  let reply: ConnectReply = { kind: 'more' };
  for (const piece of pieces) {
    if (reply.kind !== 'more') throw new Error('fed after its end');
    reply = reader.feed(Buffer.from(piece, 'latin1'));
  }
  return reply;
}

describe('the reply to CONNECT', () => {
  it.each([
    'HTTP/1.1 200 Connection established\r\n\r\n',
    'HTTP/1.0 200\r\n\r\n',
    'HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 200 OK\n\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n',
  ])('opens the tunnel in whatever pieces it comes: %j', (text) => {
    for (let at = 0; at < text.length; at++) {
      expect(feedAll([text.slice(0, at), text.slice(at)])).toMatchObject({ kind: 'open' });
    }
    expect(feedAll(text.split(''))).toMatchObject({ kind: 'open' });
  });

  it('hands on what follows its head', () => {
    const reply = feedAll(['HTTP/1.1 200 OK\r\n\r\n\u0016\u0003\u0003']);
    expect(reply).toEqual({ kind: 'open', rest: Buffer.from([0x16, 3, 3]) });
  });

  it.each([
    ['HTTP/1.1 403 Forbidden\r\n\r\n', 'the proxy refused the tunnel: 403 Forbidden'],
    ['HTTP/1.1 503\r\nA: b\r\n\r\n', 'the proxy refused the tunnel: 503'],
    [
      'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n',
      'the proxy refused the tunnel: 407 Proxy Authentication Required; it wants other credentials',
    ],
    ['SSH-2.0', 'the proxy did not answer CONNECT in HTTP'],
    ['HTTP/2 200 OK\r\n\r\n', 'the proxy did not answer CONNECT in HTTP/1.x'],
    ['HTTP/1.1 20 OK\r\n\r\n', 'the proxy did not answer CONNECT in HTTP/1.x'],
    ['HTTP/1.1 2000 OK\r\n\r\n', 'the proxy did not answer CONNECT in HTTP/1.x'],
  ])('refuses it with a reason: %j', (text, reason) => {
    expect(feedAll([text])).toEqual({ kind: 'refused', reason });
  });

  it('waits for the end of a head, but not for ever', () => {
    const start = 'HTTP/1.1 200 OK\r\nA: ';
    expect(feedAll([start, 'a'.repeat(16_384 - start.length)])).toEqual({ kind: 'more' });
    expect(feedAll([start, 'a'.repeat(16_385 - start.length)])).toMatchObject({ kind: 'refused' });
  });
});

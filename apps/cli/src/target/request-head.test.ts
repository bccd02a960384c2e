import { describe, expect, it } from 'vitest';
import { readRequestHead } from './request-head.js';

describe('request head', () => {
  it.each([
    ['GET / HTTP/1.1\r\nHost: h', { keepAlive: true, isOld: false, bodyBytes: 0 }],
    ['GET / HTTP/1.1\r\nHost: h\r\nconnection: Close', { keepAlive: false }],
    ['GET / HTTP/1.0\r\nHost: h', { keepAlive: false, isOld: true }],
    ['GET / HTTP/1.0\r\nCONNECTION: foo, Keep-Alive', { keepAlive: true, isOld: true }],
    ['POST / HTTP/1.1\r\nContent-Length: 12', { method: 'POST', bodyBytes: 12 }],
    ['POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5', { bodyBytes: undefined }],
  ])('%j', (text, head) => {
    expect(readRequestHead(text)).toMatchObject(head);
  });

  it.each([
    '',
    'GET /',
    'GET / HTTP/2.0',
    'GET /a b HTTP/1.1',
    'GET / HTTP/1.1\r\nno colon',
    'P / HTTP/1.1\r\nContent-Length: x',
  ])('%j is no request', (text) => {
    expect(readRequestHead(text)).toBeUndefined();
  });
});

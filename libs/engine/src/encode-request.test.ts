import { expect, it } from 'vitest';
import { encodeRequest } from './encode-request.js';

const target = { scheme: 'http', host: '127.0.0.1', port: 19_001, path: '/a/b?c=d' } as const;

it('sends the request line, the header lines in order and an empty line, and nothing else', () => {
  const headerLines = [
    'Connection: Keep-Alive',
    'Host: 127.0.0.1:19001',
    'User-Agent: ApacheBench/2.3',
    'Accept: */*',
  ];
  const bytes = encodeRequest({ target, request: { method: 'GET', httpVersion: '1.0', headerLines } });
  expect(bytes.toString('latin1')).toBe(
    'GET /a/b?c=d HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:19001\r\n' +
      'User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n',
  );
});

it('appends a text body as UTF-8 and a base64 body as its bytes', () => {
  const request = { method: 'POST', httpVersion: '1.1', headerLines: ['Content-Length: 3'] } as const;
  const text = encodeRequest({
    target,
    request: { ...request, headerLines: ['Content-Length: 3'], body: 'a€' },
  });
  expect(text.subarray(-4)).toEqual(Buffer.from([0x61, 0xe2, 0x82, 0xac]));
  const binary = encodeRequest({ target, request: { ...request, headerLines: [], bodyBase64: 'AP8K' } });
  expect(binary.subarray(-3)).toEqual(Buffer.from([0x00, 0xff, 0x0a]));
});

it('sends a request without header lines', () => {
  const bytes = encodeRequest({ target, request: { method: 'X', httpVersion: '1.0', headerLines: [] } });
  expect(bytes.toString('latin1')).toBe('X /a/b?c=d HTTP/1.0\r\n\r\n');
});

import { expect, it } from 'vitest';
import { abReplyLog } from './ab-reply-log.js';

const log = (firstReply: string, verbosity: number): string =>
  abReplyLog({ target: { addresses: [], firstReply } }, verbosity);
const OK = 'HTTP/1.1 200 OK\r\nServer: t\r\n\r\nhello';

it('shows what was read until the header was whole, as ab does', () => {
  expect(log(OK, 1)).toBe('');
  expect(log(OK, 2)).toBe(`LOG: header received:\n${OK}\n`);
  expect(log(OK, 3)).toBe(`LOG: header received:\n${OK}\nLOG: Response code = 200\n`);
  expect(log('', 4)).toBe('');
  expect(abReplyLog({ target: { addresses: [] } }, 4)).toBe('');
});

it('warns of a status that is not 2xx from verbosity 2 on, and takes none for 500', () => {
  const missing = 'HTTP/1.0 404 Not Found\r\n\r\n';
  expect(log(missing, 2)).toBe(`LOG: header received:\n${missing}\nWARNING: Response code not 2xx (404)\n`);
  expect(log('SSH-2\r\n\r\n', 2)).toMatch(/\nWARNING: Response code not 2xx \(500\)\n$/);
  expect(log('HTTP/1.1 2', 3)).toBe('LOG: header received:\nHTTP/1.1 2\n');
});

it('lets no control character reach the terminal', () => {
  expect(log('HTTP/1.1 200 OK\r\nX:\x1b[2J\x07\ty\r\n\r\n', 2)).toContain('X:?[2J?\ty\r\n');
});

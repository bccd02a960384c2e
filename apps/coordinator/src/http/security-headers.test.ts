import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { securityHeaders } from './security-headers.js';

it.each([
  [true, 'max-age=31536000; includeSubDomains'],
  [false, null],
])('binds browsers to https only where it is spoken: %s', async (isTls, header) => {
  const add = securityHeaders(isTls);
  const server = createServer((request, response) => add(request, response, () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  expect(response.headers.get('strict-transport-security')).toBe(header);
  expect(response.headers.get('x-frame-options')).toBe('DENY');
  await new Promise((resolve) => server.close(resolve));
});

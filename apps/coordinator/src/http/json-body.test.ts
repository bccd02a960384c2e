import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorReplyOf } from './error-body.js';
import { jsonBody } from './json-body.js';

describe('a JSON body', () => {
  let server: Server;
  let url = '';
  beforeAll(async () => {
    server = createServer((request, response) => {
      jsonBody(request, response, (error) => {
        response.statusCode = error === undefined ? 200 : errorReplyOf(error).status;
        response.end(error === undefined ? '' : errorReplyOf(error).body.error.message);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  async function answerTo(type: string): Promise<string> {
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': type } });
    return `${response.status} ${await response.text()}`;
  }

  it.each(['', '; charset=utf-8', ';charset="UTF-8"', '; charset=utf8; v=1'])(
    'is read with %j',
    async (more) => {
      expect(await answerTo(`application/json${more}`)).toBe('200 ');
    },
  );

  it.each(['utf-16', 'iso-8859-1', '"utf-7"', ''])('in %s is refused', async (charset) => {
    const name = charset.replaceAll('"', '');
    expect(await answerTo(`application/json; charset=${charset}`)).toBe(
      `415 the body is in ${name}; JSON must be UTF-8`,
    );
  });
});

import { describe, expect, it } from 'vitest';
import { isTlsError, tlsReasonOf } from './tls-reason.js';

function errorOf(message: string, more: object = {}): Error {
  return Object.assign(new Error(message), more);
}

describe('the reason of a TLS error', () => {
  it.each([
    [errorOf('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }), 'self-signed certificate'],
    [
      errorOf("Hostname/IP does not match certificate's altnames: IP: 1.2.3.4 is not in the cert's list: ", {
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
        reason: "IP: 1.2.3.4 is not in the cert's list: ",
      }),
      "Hostname/IP does not match certificate's altnames: IP: 1.2.3.4 is not in the cert's list: ",
    ],
    [
      errorOf('00:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:a.c:3:\n'),
      'wrong version number (the reply is not TLS; is it an https port?)',
    ],
    [
      errorOf('error:x', { reason: 'tlsv1 alert protocol version', code: 'ERR_SSL_X' }),
      'tlsv1 alert protocol version',
    ],
    [errorOf('first line\nsecond'), 'first line'],
    ['no error at all', 'no error at all'],
  ])('is one line in words: %s', (error, reason) => {
    expect(tlsReasonOf(error)).toBe(reason);
  });

  it('is told from an error of the socket by its code', () => {
    expect(isTlsError(errorOf('', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }))).toBe(true);
    expect(isTlsError(errorOf('', { code: 'EPROTO' }))).toBe(true);
    expect(isTlsError(errorOf('', { code: 'ECONNRESET' }))).toBe(false);
    expect(isTlsError(errorOf(''))).toBe(false);
  });
});

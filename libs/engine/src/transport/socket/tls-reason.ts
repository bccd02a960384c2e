const HINTS: Readonly<Record<string, string>> = {
  'wrong version number': 'the reply is not TLS; is it an https port?',
  'packet length too long': 'the reply is not TLS; is it an https port?',
  'http request': 'the target speaks plain http',
};

/** One line in people's words from an error of `node:tls`: OpenSSL's own ones hold numbers and file names. */
export function tlsReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Its own reason does not say that it is about the certificate.
  if ('code' in error && error.code === 'ERR_TLS_CERT_ALTNAME_INVALID') return error.message;
  const own = 'reason' in error && typeof error.reason === 'string' ? error.reason : undefined;
  const listed = /error:[0-9A-F]+:[^:]*:[^:]*:([^:]+)/i.exec(error.message)?.[1];
  const reason = own ?? listed ?? error.message.split('\n', 1)[0] ?? '';
  const hint = HINTS[reason];
  return hint === undefined ? reason : `${reason} (${hint})`;
}

/** Whether an error of an open TLS socket comes from TLS and not from the socket below. */
export function isTlsError(error: NodeJS.ErrnoException): boolean {
  return /^(ERR_SSL|ERR_TLS|EPROTO)/.test(error.code ?? '');
}

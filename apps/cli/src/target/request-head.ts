/** What the trial server needs to know of a request. */
export interface RequestHead {
  readonly method: string;
  /** HTTP/1.0: closes unless told otherwise. */
  readonly isOld: boolean;
  readonly keepAlive: boolean;
  /** Length of the request's body; undefined when it comes in chunks, which are not read here. */
  readonly bodyBytes: number | undefined;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) \S+ HTTP\/1\.([01])$/;

/**
 * Reads a request head without its empty line.
 * @returns undefined when it is no HTTP/1.x request.
 */
export function readRequestHead(text: string): RequestHead | undefined {
  const [requestLine = '', ...lines] = text.split('\r\n');
  const match = REQUEST_LINE.exec(requestLine);
  if (match === null) return undefined;
  const isOld = match[2] === '0';
  let connection = '';
  let bodyBytes: number | undefined = 0;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) return undefined;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'connection') connection = value.toLowerCase();
    if (name === 'transfer-encoding') bodyBytes = undefined;
    if (name === 'content-length') {
      if (!/^\d{1,15}$/.test(value)) return undefined;
      if (bodyBytes !== undefined) bodyBytes = Number(value);
    }
  }
  const tokens = connection.split(',').map((token) => token.trim());
  const keepAlive = isOld ? tokens.includes('keep-alive') : !tokens.includes('close');
  return { method: match[1] ?? '', isOld, keepAlive, bodyBytes };
}

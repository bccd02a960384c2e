import { formatProblem, hostHeaderOf, type ParsedPlan, parsePlan, parseTarget } from '@broadside/shared';
import type { ClientIdentity } from './ab-identity.js';
import type { AbOptions } from './ab-options.js';

/** The name that `ab` gives itself on the wire; targets that log or branch on it see the same client. */
const USER_AGENT = 'ApacheBench/2.3';

/**
 * The header lines of `ab`'s request, in its order and capitalisation (spec 2.1). A `-H` line whose name begins
 * with Host, User-Agent or Accept replaces ab's own line of that name; any other is added, even if it repeats.
 * @param bodyBytes length of the body, or undefined without -p and -u.
 */
function abHeaderLines(options: AbOptions, bodyBytes: number | undefined): string[] {
  const target = parseTarget(options.url);
  if (typeof target === 'string') throw new TypeError(`unchecked URL: ${target}`);
  const given = (name: string): boolean =>
    options.headerLines.some((line) => line.slice(0, name.length + 1).toLowerCase() === `${name}:`);
  const lines: string[] = [];
  if (options.keepAlive) lines.push('Connection: Keep-Alive');
  if (options.cookies.length > 0) lines.push(`Cookie: ${options.cookies.join('; ')}`);
  // Through a tunnel the proxy reads CONNECT only, and the target must not read the proxy's credentials.
  const isTunnelled = options.proxy !== undefined && target.scheme === 'https';
  lines.push(
    ...options.authorizationLines.filter((line) => !isTunnelled || !line.startsWith('Proxy-Authorization:')),
  );
  if (bodyBytes !== undefined) {
    lines.push(`Content-length: ${bodyBytes}`, `Content-type: ${options.contentType}`);
  }
  lines.push(...options.headerLines);
  if (!given('host')) lines.push(`Host: ${hostHeaderOf(target)}`);
  if (!given('user-agent')) lines.push(`User-Agent: ${USER_AGENT}`);
  if (!given('accept')) lines.push('Accept: */*');
  return lines;
}

/**
 * The plan that a command line of `ab` means.
 * @param body content of the body file, or undefined without -p and -u.
 * @param identity certificate and key of the file of -E.
 */
export function planOfAb(
  options: AbOptions,
  body: Uint8Array | undefined,
  identity?: ClientIdentity,
): ParsedPlan {
  const hasBody = body !== undefined && body.byteLength > 0;
  const plan = {
    target: options.url,
    method: options.method,
    httpVersion: '1.0',
    exactHeaders: true,
    headers: abHeaderLines(options, body?.byteLength),
    ...(hasBody ? { bodyBase64: Buffer.from(body).toString('base64') } : {}),
    keepAlive: options.keepAlive,
    connections: options.concurrency,
    ...(options.requests === undefined ? {} : { requests: options.requests }),
    ...(options.timeLimitS === undefined ? {} : { durationMs: options.timeLimitS * 1_000 }),
    timeoutMs: options.timeoutS * 1_000,
    checkLength: !options.acceptVariableLength,
    failOnStatus: false,
    onSocketError: options.continueOnSocketError ? 'continue' : 'stop',
    probe: true,
    // What ab prints of replies, and what tells whether it would have read them as we do.
    ...(options.verbosity >= 2 || options.counting === 'classic' ? { keepFirstReply: true } : {}),
    ...connectionFieldsOf(options, identity),
    // The development version of ab sends again what met a close of a reused connection.
    ...(options.counting === 'trunk' ? { retryIdempotent: true } : {}),
    ...(options.slots === undefined ? {} : { slots: Number(options.slots) }),
  };
  return parsePlan(plan, (path) => OPTION_OF_FIELD[path.split('.')[0] ?? ''] ?? path);
}

/** What connections go through. TLS is spoken as `ab` does: nothing is verified, no session is resumed. */
function connectionFieldsOf(options: AbOptions, identity: ClientIdentity | undefined) {
  const { proxy, proxyCredentials, bind, socketBufferBytes, tlsVersion, ciphers } = options;
  const isTls = options.url.startsWith('https://');
  const isTunnelled = isTls && proxy !== undefined;
  const serverName = options.sendsServerName ? hostOfHeader(options.headerLines) : '';
  return {
    ...(proxy === undefined ? {} : { proxy }),
    ...(isTunnelled && proxyCredentials !== undefined ? { proxyUser: proxyCredentials } : {}),
    ...(bind === undefined ? {} : { bind }),
    ...(socketBufferBytes === undefined ? {} : { socketBufferBytes }),
    ...(isTls
      ? {
          tls: {
            verify: false,
            ...(serverName === undefined ? {} : { serverName }),
            // `ab` asks for nothing less than what its library has, and so do we.
            minVersion: tlsVersion ?? 'TLSv1',
            maxVersion: tlsVersion ?? 'TLSv1.3',
            ...(ciphers === undefined ? {} : { ciphers }),
            ...identity,
          },
        }
      : {}),
  };
}

/** Host of a `-H Host:` line, which `ab` sends in the handshake too; undefined without one. */
function hostOfHeader(headerLines: readonly string[]): string | undefined {
  const line = headerLines.findLast((each) => /^host:/i.test(each));
  const host = line?.slice(5).trim().replace(/:\d+$/, '');
  // A name that cannot be sent is left to the target's own; an address is left out when the shard is made.
  return host !== undefined && /^[0-9A-Za-z._-]+$/.test(host) ? host : undefined;
}

/** Field of the plan to the option that sets it, so that a refusal names what the user typed. */
const OPTION_OF_FIELD: Readonly<Record<string, string>> = {
  target: 'URL',
  method: '-m',
  headers: '-H, -C, -A or -T',
  bodyBase64: 'the body file',
  connections: '-c',
  requests: '-n',
  durationMs: '-t',
  timeoutMs: '-s',
  slots: '--slots',
  proxy: '-X',
  proxyUser: '-P',
  bind: '-B',
  socketBufferBytes: '-b',
  tls: '-E or -Z',
};

/** All problems of a plan as one line in the words of the command line. */
export function describeAbProblems(parsed: ParsedPlan): string {
  return parsed.ok ? '' : parsed.problems.map(formatProblem).join('; ');
}

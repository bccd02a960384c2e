import { formatCount, formatLatencyUs } from '../../units.js';
import type { Report } from '../report.schema.js';
import { printable } from './printable.js';

/** What was negotiated, and how often; empty without TLS. */
export function tlsTexts({ target: { tls } }: Report): string[] {
  if (tls === undefined) return [];
  const { protocol, cipher, publicKeyBits, tempKey, handshakes, resumed } = tls;
  const key = publicKeyBits === 0 ? '' : `, ${publicKeyBits}-bit key`;
  const exchange = tempKey === undefined ? '' : `, ${tempKey}`;
  const sessions = resumed === 0 ? '' : `, ${formatCount(resumed)} of them resumed a session`;
  const meanUs = handshakes === 0 ? 0 : tls.handshakeSumUs / handshakes;
  return [
    printable(`${protocol} ${cipher}${key}${exchange}`),
    `${formatCount(handshakes)} handshakes, mean ${formatLatencyUs(meanUs)}, ` +
      `longest ${formatLatencyUs(tls.handshakeMaxUs)}${sessions}`,
  ];
}

/** Which addresses of a name with several were used; empty where there was no choice. */
export function addressTexts({ target: { addresses, addressesUsed = 1 } }: Report): string[] {
  if (addresses.length < 2) return [];
  const used = addresses.slice(0, addressesUsed).join(', ');
  const unused = addresses.length - addressesUsed;
  return [
    printable(unused === 0 ? `all in turn: ${used}` : `${used} (${formatCount(unused)} more not used)`),
  ];
}

/** What the connections went through, or to, other than the target's host and port. */
export function routeTexts({ plan, shards }: Report): string[] {
  const notes = new Set(shards.flatMap(({ transportNote }) => transportNote ?? []));
  return [
    ...(plan.unixSocket === undefined ? [] : [`to ${plan.unixSocket}`]),
    ...(plan.proxy === undefined ? [] : [`through the proxy ${plan.proxy}`]),
    ...(plan.bind === undefined ? [] : [`from ${plan.bind.join(', ')}`]),
    ...notes,
  ].map(printable);
}

/** Why connections failed, most frequent first. */
export function failureReasonTexts({ failureReasons = [] }: Report): string[] {
  return failureReasons.map(({ reason, count }) => printable(`${formatCount(count)} × ${reason}`));
}

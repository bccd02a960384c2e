// A process that stands between two hosts and makes the way long: every byte arrives DELAY_MS later, in both
// directions. Also the door from the test, which is in no namespace of the network, to a host: a Unix socket is a
// file, so it can be reached from outside.
//
// Usage: node relay.mjs LISTEN TO [DELAY_MS]      LISTEN and TO are HOST:PORT, or LISTEN is the path of a socket

import { connect, createServer } from 'node:net';

const [listen = '', to = '', delay = '0'] = process.argv.slice(2);
const delayMs = Number(delay);
const target = addressOf(to);

const server = createServer({ noDelay: true, allowHalfOpen: true }, (inner) => {
  const outer = connect({ ...target, noDelay: true, allowHalfOpen: true });
  pass(inner, outer);
  pass(outer, inner);
});
server.listen(listen.startsWith('/') ? { path: listen } : addressOf(listen), () =>
  console.log('relay listens'),
);

/**
 * Timers of one length fire in the order in which they were set, so bytes keep their order.
 * @param {import('node:net').Socket} from
 * @param {import('node:net').Socket} into
 */
function pass(from, into) {
  from.on('data', (bytes) => later(() => into.write(bytes)));
  from.on('end', () => later(() => into.end()));
  // A broken side breaks the other, as if there were nothing in between.
  from.on('error', () => later(() => into.destroy()));
  from.on('close', (hadError) => hadError && later(() => into.destroy()));
}

/** @param {() => void} act */
function later(act) {
  if (delayMs === 0) act();
  else setTimeout(act, delayMs);
}

/** @param {string} text */
function addressOf(text) {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

// A target that knows how many requests came for each path, and tells whoever asks at its Unix socket: one JSON object.
// Requests are never pipelined here and fit a segment, so what is read at once is one.
//
// Usage: node counting-process.mjs ADDRESS SOCKET_PATH DELAY_MS

import { createServer } from 'node:net';

const [address, socketPath, delay] = process.argv.slice(2);
const reply = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

/** @type {Map<string, number>} */
const counts = new Map();

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('data', (bytes) => {
    const path = bytes.toString('latin1').split(' ', 2)[1] ?? '';
    counts.set(path, (counts.get(path) ?? 0) + 1);
    setTimeout(() => socket.write(reply), Number(delay));
  });
  // Load is cut off at its end, which resets connections.
  socket.on('error', () => socket.destroy());
});
server.listen(0, address, () => {
  const bound = server.address();
  if (bound !== null && typeof bound === 'object') console.log(`listens on ${bound.port}`);
});

createServer((socket) => socket.end(JSON.stringify(Object.fromEntries(counts)))).listen(socketPath);

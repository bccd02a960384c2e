// A target that says when each connection brought its first request, by a clock of its own: one line
// `first ADDRESS MICROSECONDS`. Requests are never pipelined here and fit a segment, so what is read at once is one.
//
// Usage: node stamping-target.mjs ADDRESS

import { createServer } from 'node:net';

const reply = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

const server = createServer({ noDelay: true }, (socket) => {
  let isFirst = true;
  socket.on('data', () => {
    if (isFirst) {
      const atUs = process.hrtime.bigint() / 1_000n;
      // Answered before it is told, so that telling delays nobody.
      socket.write(reply);
      console.log(`first ${socket.remoteAddress} ${atUs}`);
      isFirst = false;
    } else socket.write(reply);
  });
  // Load is cut off at its end, which resets connections.
  socket.on('error', () => socket.destroy());
});
server.listen(0, process.argv[2], () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`listens on ${address.port}`);
});

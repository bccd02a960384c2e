/** The HTTP server below Nest: time limits against clients that hold on to connections, and TLS. */
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { LIMITS } from '@broadside/shared';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { TlsFiles } from './tls-files.js';

const LIMITS_OF_REQUESTS: ServerOptions = {
  /** From the first byte, or from the connection, to the last header line. */
  headersTimeout: 10_000,
  /** To the end of the body, which is at most LIMITS.maxRestBodyBytes. */
  requestTimeout: 30_000,
  keepAliveTimeout: 30_000,
  /** How often the two above are looked at; Node's own 30 s would triple them. */
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};
const HANDSHAKE_TIMEOUT_MS = 10_000;

export class HardenedAdapter extends ExpressAdapter {
  readonly #tls: TlsFiles | undefined;

  /** @param tls the certificate to serve with; without it plain HTTP is served. */
  constructor(tls: TlsFiles | undefined) {
    super();
    this.#tls = tls;
  }

  override initHttpServer(): void {
    const server = this.#createServer();
    server.maxConnections = LIMITS.maxHttpConnections;
    this.httpServer = server;
  }

  #createServer(): Server | TlsServer {
    // Express is a request handler; Nest's types do not say so.
    const handle = this.getInstance<Parameters<typeof createServer>[1]>();
    const tls = this.#tls;
    if (tls === undefined) return createServer(LIMITS_OF_REQUESTS, handle);
    const server = createTlsServer(
      {
        ...LIMITS_OF_REQUESTS,
        ...tls.pair,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      },
      handle,
    );
    // Connections that are open keep theirs; the next handshake has the new one.
    tls.onRenewed((pair) => server.setSecureContext({ ...pair, minVersion: 'TLSv1.2' }));
    return server;
  }
}

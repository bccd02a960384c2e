import helmet from 'helmet';

type Middleware = ReturnType<typeof helmet>;

/**
 * Headers that keep browsers from doing more with a reply than reading it. Scripts come from the coordinator itself
 * and from nowhere else; the page that describes the interface brings its styles and its picture along.
 */
/** @param isTls whether this coordinator itself is spoken to by https. */
export function securityHeaders(isTls: boolean): Middleware {
  const headers = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    xFrameOptions: { action: 'deny' },
    // It may only be said over TLS (RFC 6797 7.2), from where there is no way back to http.
    strictTransportSecurity: isTls ? { maxAge: 31_536_000 } : false,
  });
  return (request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    headers(request, response, next);
  };
}

import helmet from 'helmet';

type Middleware = ReturnType<typeof helmet>;

/**
 * Headers that keep browsers from doing more with a reply than reading it. Scripts come from the coordinator itself
 * and from nowhere else; the page that describes the interface brings its styles and its picture along.
 */
export function securityHeaders(): Middleware {
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
    // Over http browsers pass over it; behind TLS there is no way back to http.
    strictTransportSecurity: { maxAge: 31_536_000 },
  });
  return (request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    headers(request, response, next);
  };
}

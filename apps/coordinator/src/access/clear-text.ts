import { type Config, isLoopback } from '../config/config.schema.js';

/** What is said at the start where others can read along; undefined where they cannot, or a proxy has the TLS. */
export function clearTextWarning(
  config: Pick<Config, 'host' | 'tlsCertFile' | 'trustedProxies'>,
): string | undefined {
  const { host, tlsCertFile, trustedProxies } = config;
  if (isLoopback(host) || tlsCertFile !== undefined || trustedProxies.length > 0) return undefined;
  return (
    `${host} is served without TLS, so tokens and secrets of plans can be read on the way; give --tls-cert and ` +
    '--tls-key, or listen on 127.0.0.1 behind a proxy with TLS and name it with --trust-proxy'
  );
}

import { describe, expect, it } from 'vitest';
import { clearTextWarning } from './clear-text.js';

const open = { host: '0.0.0.0', tlsCertFile: undefined, trustedProxies: [] };

describe('the warning that tokens travel readable', () => {
  it.each(['0.0.0.0', '::', '192.168.1.4', 'load.example'])('is given beyond loopback: %s', (host) => {
    const warning = clearTextWarning({ ...open, host });
    expect(warning).toMatch(/tokens .* can be read .*--tls-cert and --tls-key/);
    expect(warning?.startsWith(`${host} is served without TLS`)).toBe(true);
    expect(warning).not.toContain('\n');
  });

  it.each([
    { ...open, host: '127.0.0.1' },
    { ...open, host: 'localhost' },
    { ...open, tlsCertFile: 'cert.pem' },
    { ...open, trustedProxies: ['10.0.0.1'] },
  ])('is not given where nobody can read along, or a proxy stands before it: %j', (config) => {
    expect(clearTextWarning(config)).toBeUndefined();
  });
});

import { expect, it } from 'vitest';
import { sampleReport } from '../../testing/observed.js';
import { abReport } from './ab-text.js';
import { summaryText } from './summary-text.js';

const tls = {
  protocol: 'TLSv1.3',
  cipher: 'TLS_AES_256_GCM_SHA384',
  publicKeyBits: 2_048,
  cipherBits: 256,
  tempKey: 'X25519 253 bits',
  serverName: 'h.test',
  handshakes: 10,
  resumed: 4,
  handshakeSumUs: 20_000,
  handshakeMaxUs: 9_000,
};

it('shows what was negotiated, which addresses were used and by what way', () => {
  const report = sampleReport({
    plan: { target: 'https://h.test/', bind: ['10.1.0.1', '10.1.0.2'], proxy: 'p:81' },
    input: {
      target: { addresses: ['10.0.0.1', '10.0.0.2', '10.0.0.3'], addressesUsed: 2, tls },
      failureReasons: [{ reason: 'certificate has expired\u001b[31m', count: 3 }],
      shards: [
        { shardIndex: 0, attempt: 1, agentId: 'a1', connections: 5, transportNote: 'epoll is not used: x' },
        { shardIndex: 1, attempt: 1, agentId: 'a1', connections: 5, transportNote: 'epoll is not used: x' },
      ],
    },
  });
  const text = summaryText(report);
  expect(text).toContain('TLS          TLSv1.3 TLS_AES_256_GCM_SHA384, 2048-bit key, X25519 253 bits\n');
  expect(text).toContain('10 handshakes, mean 2.00ms, longest 9.00ms, 4 of them resumed a');
  expect(text).toContain('Addresses    10.0.0.1, 10.0.0.2 (1 more not used)\n');
  expect(text).toContain('through the proxy p:81\n');
  expect(text).toContain('from 10.1.0.1, 10.1.0.2\n');
  expect(text.split('epoll is not used: x')).toHaveLength(2);
  expect(text).toContain('Reasons      3 × certificate has expired?[31m\n');
});

it('says nothing of all this for plain TCP to one address', () => {
  const text = summaryText(sampleReport());
  for (const label of ['TLS', 'Addresses', 'Reasons', 'through', 'from']) expect(text).not.toContain(label);
});

it('prints the three TLS lines of ab, and the name alone where no handshake succeeded', () => {
  const input = { target: { addresses: [], tls } };
  const plan = { target: 'https://h.test/' };
  expect(abReport(sampleReport({ plan, input }))).toContain(
    [
      'Server Port:            443',
      'SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256',
      'Server Temp Key:        X25519 253 bits',
      'TLS Server Name:        h.test',
      '',
      'Document Path:          /',
    ].join('\n'),
  );
  expect(abReport(sampleReport({ plan }))).toContain(
    'Server Port:            443\nTLS Server Name:        h.test\n\nDocument Path:',
  );
  const { tempKey: _, ...without } = tls;
  const unnamed = { target: 'https://10.0.0.1/' };
  expect(
    abReport(sampleReport({ plan: unnamed, input: { target: { addresses: [], tls: without } } })),
  ).toContain('SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256\n\nDocument Path:');
});

import { expect, it } from 'vitest';
import { type Lookup, resolveTarget, systemLookup, type TargetCheck } from './resolve-target.js';

const both: Lookup = () =>
  Promise.resolve([
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ]);
const anything: TargetCheck = () => undefined;
const nothing: TargetCheck = () => 'no rule allows it';
const at = (host: string) => ({ host, port: 80 });
const unasked: Lookup = () => Promise.reject(new Error('must not be asked'));

it('uses an address as it is, without a look-up', async () => {
  expect(await resolveTarget(at('192.0.2.7'), { lookup: unasked, refusalOf: anything })).toEqual({
    ok: true,
    used: { address: '192.0.2.7', family: 4 },
    usable: [{ address: '192.0.2.7', family: 4 }],
    addresses: ['192.0.2.7'],
  });
  expect(await resolveTarget(at('::1'), { lookup: unasked, refusalOf: anything })).toMatchObject({
    used: { family: 6 },
  });
});

it('takes the first allowed address, IPv4 before IPv6', async () => {
  expect(await resolveTarget(at('both.test'), { lookup: both, refusalOf: anything })).toMatchObject({
    ok: true,
    used: { address: '127.0.0.1' },
    addresses: ['127.0.0.1', '10.0.0.1', '::1'],
  });
  const refusalOf: TargetCheck = (place) =>
    'host' in place && place.address === '::1' ? undefined : 'not that';
  expect(await resolveTarget(at('both.test'), { lookup: both, refusalOf })).toMatchObject({
    used: { address: '::1' },
  });
});

it('refuses when the policy allows none of the addresses, and names them', async () => {
  const resolution = await resolveTarget(at('both.test'), { lookup: both, refusalOf: nothing });
  expect(resolution).toMatchObject({ ok: false, fatal: { code: 'NOT_ALLOWED' } });
  expect(JSON.stringify(resolution)).toContain('10.0.0.1');
  expect(JSON.stringify(resolution)).toContain(': no rule allows it');
});

it('asks the policy about literal addresses too', async () => {
  const resolution = await resolveTarget(at('169.254.169.254'), { lookup: unasked, refusalOf: nothing });
  expect(resolution).toEqual({
    ok: false,
    fatal: {
      code: 'NOT_ALLOWED',
      message: 'the target policy does not allow load on 169.254.169.254: no rule allows it',
    },
  });
});

it('says that a name is not known', async () => {
  const lookup: Lookup = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
  expect(await resolveTarget(at('no.test'), { lookup, refusalOf: anything })).toEqual({
    ok: false,
    fatal: { code: 'ENOTFOUND', message: 'cannot resolve no.test: the name is not known' },
  });
  const empty: Lookup = () => Promise.resolve([]);
  expect(await resolveTarget(at('no.test'), { lookup: empty, refusalOf: anything })).toMatchObject({
    ok: false,
  });
});

it('resolves localhost with the system', async () => {
  const resolution = await resolveTarget(at('localhost'), { lookup: systemLookup, refusalOf: anything });
  expect(resolution).toMatchObject({ ok: true });
});

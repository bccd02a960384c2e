import { expect, it } from 'vitest';
import { type Lookup, resolveTarget, systemLookup } from './resolve-target.js';

const both: Lookup = () =>
  Promise.resolve([
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
    { address: '10.0.0.1', family: 4 },
  ]);
const anything = (): boolean => true;
const unasked: Lookup = () => Promise.reject(new Error('must not be asked'));

it('uses an address as it is, without a look-up', async () => {
  const isAllowed = anything;
  expect(await resolveTarget('192.0.2.7', { lookup: unasked, isAllowed })).toEqual({
    ok: true,
    used: { address: '192.0.2.7', family: 4 },
    usable: [{ address: '192.0.2.7', family: 4 }],
    addresses: ['192.0.2.7'],
  });
  expect(await resolveTarget('::1', { lookup: unasked, isAllowed })).toMatchObject({ used: { family: 6 } });
});

it('takes the first allowed address, IPv4 before IPv6', async () => {
  expect(await resolveTarget('both.test', { lookup: both, isAllowed: anything })).toMatchObject({
    ok: true,
    used: { address: '127.0.0.1' },
    addresses: ['127.0.0.1', '10.0.0.1', '::1'],
  });
  const isAllowed = (address: string): boolean => address === '::1';
  expect(await resolveTarget('both.test', { lookup: both, isAllowed })).toMatchObject({
    used: { address: '::1' },
  });
});

it('refuses when the policy allows none of the addresses, and names them', async () => {
  const resolution = await resolveTarget('both.test', { lookup: both, isAllowed: () => false });
  expect(resolution).toMatchObject({ ok: false, fatal: { code: 'NOT_ALLOWED' } });
  expect(JSON.stringify(resolution)).toContain('10.0.0.1');
});

it('asks the policy about literal addresses too', async () => {
  const resolution = await resolveTarget('169.254.169.254', { lookup: unasked, isAllowed: () => false });
  expect(resolution).toMatchObject({ ok: false, fatal: { code: 'NOT_ALLOWED' } });
});

it('says that a name is not known', async () => {
  const lookup: Lookup = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
  expect(await resolveTarget('no.test', { lookup, isAllowed: anything })).toEqual({
    ok: false,
    fatal: { code: 'ENOTFOUND', message: 'cannot resolve no.test: the name is not known' },
  });
  const empty: Lookup = () => Promise.resolve([]);
  expect(await resolveTarget('no.test', { lookup: empty, isAllowed: anything })).toMatchObject({ ok: false });
});

it('resolves localhost with the system', async () => {
  const resolution = await resolveTarget('localhost', { lookup: systemLookup, isAllowed: anything });
  expect(resolution).toMatchObject({ ok: true });
});

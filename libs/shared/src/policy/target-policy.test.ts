import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import {
  type AskedPlace,
  CLUSTER_TARGETS,
  judgeTarget,
  OPEN_TARGETS,
  refusalOf,
  type TargetPolicyTexts,
  targetPolicyOf,
} from './target-policy.js';
import { parseTargetRule } from './target-rule.js';

function judged(texts: Partial<TargetPolicyTexts>, place: AskedPlace): string {
  return judgeTarget(targetPolicyOf({ allow: [], deny: [], ...texts }), place).kind;
}

const at = (address: string, port = 80): AskedPlace => ({ host: address, port, address });

const USUAL = [
  '127.0.0.1',
  '::1',
  '10.1.2.3',
  '172.31.0.1',
  '192.168.1.1',
  'fd12::1',
  '::ffff:127.0.0.1',
  '0.0.0.0',
  '::',
];
const PUBLIC = ['93.184.216.34', '172.32.0.1', '2001:db8::1', '100.64.0.1', '::ffff:93.184.216.34'];
const MUST_BE_NAMED = [
  '169.254.169.254',
  '169.254.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '::a9fe:a9fe',
  '100.100.100.200',
  '::ffff:100.100.100.200',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:254',
];

describe('the policy of one person’s machine', () => {
  it.each([...USUAL, ...PUBLIC])('lets load go to %s', (address) => {
    expect(judged(OPEN_TARGETS, at(address))).toBe('allowed');
  });

  it.each([...MUST_BE_NAMED, 'not an address', ''])('lets none go to %s', (address) => {
    expect(judged(OPEN_TARGETS, { host: 'h.test', port: 80, address })).toBe('refused');
  });

  it.each(['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518'])(
    'reads %s as the metadata address although nobody has looked it up',
    (host) => {
      expect(judged(OPEN_TARGETS, { host, port: 80 })).toBe('refused');
    },
  );

  it('lets load go to unix sockets', () => {
    expect(judged(OPEN_TARGETS, { unixSocket: '/run/x.sock' })).toBe('allowed');
  });
});

describe('the policy of a cluster that was told nothing', () => {
  it.each(USUAL)('lets load go to %s', (address) => {
    expect(judged(CLUSTER_TARGETS, at(address))).toBe('allowed');
  });

  it.each([...PUBLIC, ...MUST_BE_NAMED])('lets none go to %s', (address) => {
    expect(judged(CLUSTER_TARGETS, at(address))).toBe('refused');
  });

  it('leaves names to the agents, and says what is allowed', () => {
    expect(judged(CLUSTER_TARGETS, { host: 'app.test', port: 80 })).toBe('by-address');
    const judgement = judgeTarget(targetPolicyOf(CLUSTER_TARGETS), at('93.184.216.34'));
    expect(judgement).toMatchObject({ why: 'no rule allows it (allowed: loopback, private)' });
  });

  it('lets none go to unix sockets', () => {
    expect(judged(CLUSTER_TARGETS, { unixSocket: '/var/run/docker.sock' })).toBe('refused');
  });
});

describe('rules', () => {
  it('allow names, whatever they resolve to, but not what must be named', () => {
    const allow = ['*.Staging.example', 'one.example:8000-8999'];
    for (const [host, port, kind] of [
      ['a.b.staging.example', 80, 'allowed'],
      ['A.STAGING.EXAMPLE.', 80, 'allowed'],
      ['staging.example', 80, 'refused'],
      ['evilstaging.example', 80, 'refused'],
      ['one.example', 8080, 'allowed'],
      ['one.example', 80, 'refused'],
    ] as const) {
      expect(judged({ allow }, { host, port }), `${host}:${port}`).toBe(kind);
      expect(judged({ allow }, { host, port, address: '93.184.216.34' })).toBe(kind);
      expect(judged({ allow }, { host, port, address: '169.254.169.254' })).toBe('refused');
    }
  });

  it('deny before they allow, by name and by address', () => {
    const policy = { allow: ['*'], deny: ['10.9.0.0/16', 'db.example', '[fd09::/16]:443', '127.0.0.0/8'] };
    expect(judged(policy, at('10.9.1.1'))).toBe('refused');
    expect(judged(policy, at('::ffff:10.9.1.1'))).toBe('refused');
    expect(judged(policy, at('10.8.1.1'))).toBe('allowed');
    expect(judged(policy, { host: 'db.example', port: 80, address: '10.8.1.1' })).toBe('refused');
    expect(judged(policy, { host: 'DB.example.', port: 80 })).toBe('refused');
    expect(judged(policy, at('fd09::1', 443))).toBe('refused');
    expect(judged(policy, at('fd09::1', 80))).toBe('allowed');
    // The unspecified address is this machine.
    expect(judged(policy, at('0.0.0.0'))).toBe('refused');
    expect(judgeTarget(targetPolicyOf(policy), at('10.9.1.1'))).toMatchObject({
      why: 'the rule deny 10.9.0.0/16 forbids it',
    });
  });

  it('name link-local addresses only by an address or a network within them', () => {
    const place = at('169.254.7.7');
    expect(judged({ allow: ['169.254.7.0/24'] }, place)).toBe('allowed');
    expect(judged({ allow: ['169.254.7.7:80'] }, place)).toBe('allowed');
    expect(judged({ allow: ['169.254.7.7:81', '*'] }, place)).toBe('refused');
    expect(judged({ allow: ['0.0.0.0/0'] }, place)).toBe('refused');
    expect(judged({ allow: ['169.0.0.0/8'] }, place)).toBe('refused');
    expect(
      judged({ allow: ['link.example'] }, { host: 'link.example', port: 80, address: '169.254.7.7' }),
    ).toBe('refused');
    expect(judged({ allow: ['169.254.7.0/24'], deny: ['169.254.7.7'] }, place)).toBe('refused');
  });

  it('take networks as they are written, and IPv6 forms of IPv4 networks as these', () => {
    expect(judged({ allow: ['0.0.0.0/0'] }, at('93.184.216.34'))).toBe('allowed');
    expect(judged({ allow: ['0.0.0.0/8'] }, at('127.0.0.1'))).toBe('refused');
    expect(judged({ allow: ['::/0'] }, at('2001:db8::1'))).toBe('allowed');
    expect(judged({ allow: ['::/0'] }, at('93.184.216.34'))).toBe('refused');
    expect(judged({ allow: ['[::ffff:10.0.0.0/104]:80'] }, at('10.1.1.1'))).toBe('allowed');
    expect(judged({ allow: ['0.0.0.0'] }, at('127.0.0.1'))).toBe('allowed');
  });

  it('of unix sockets name a path, or all', () => {
    expect(judged({ allow: ['unix:/run/a.sock'] }, { unixSocket: '/run/a.sock' })).toBe('allowed');
    expect(judged({ allow: ['unix:/run/a.sock'] }, { unixSocket: '/run/../run/a.sock' })).toBe('refused');
    expect(judged({ allow: ['*'] }, { unixSocket: '/run/a.sock' })).toBe('refused');
    expect(judged({ allow: ['unix:*'], deny: ['unix:/run/a.sock'] }, { unixSocket: '/run/a.sock' })).toBe(
      'refused',
    );
  });

  it.each([
    ['', 'must be a host name'],
    ['a b', 'must be a host name'],
    ['http://h/', 'must be a host name'],
    ['*.*.example', 'must be a host name'],
    ['a*.example', 'must be a host name'],
    ['127.1', 'must be a host name'],
    ['0x7f000001', 'must be a host name'],
    ['10.0.0.0/33', '0 to 32 bits'],
    ['10.0.0.0/', '0 to 32 bits'],
    ['10.0.0.5/8', 'bits beyond its length of 8'],
    ['fd00::1/8', 'bits beyond'],
    ['fe80::1%eth0', 'must be a host name'],
    ['h:0', 'port from 1 to 65535'],
    ['h:70000', 'port from 1 to 65535'],
    ['h:9-8', 'port from 1 to 65535'],
    ['[::1]:x', 'port from 1 to 65535'],
    ['unix:run/a', 'must be unix:/path'],
    ['x'.repeat(400), 'at most 300 characters'],
  ])('like %j are refused with a reason', (text, reason) => {
    expect(parseTargetRule(text)).toEqual(expect.stringContaining(reason));
  });
});

describe('two policies', () => {
  const open = targetPolicyOf(OPEN_TARGETS);
  const cluster = targetPolicyOf(CLUSTER_TARGETS);

  it('must both allow', () => {
    expect(refusalOf({ coordinator: open, agent: open }, at('93.184.216.34'))).toBeUndefined();
    expect(refusalOf({ coordinator: open, agent: cluster }, at('93.184.216.34'))).toContain(
      'policy of the agent',
    );
    expect(refusalOf({ coordinator: cluster, agent: open }, at('93.184.216.34'))).toContain(
      'of the coordinator',
    );
  });

  it('refuse a name that has no address in the end, unless it is allowed by itself', () => {
    expect(refusalOf({ agent: cluster }, { host: 'nowhere.test', port: 80 })).toContain(
      'has no address here',
    );
    expect(refusalOf({ agent: open }, { host: 'nowhere.test', port: 80 })).toBeUndefined();
  });
});

describe(`any policy (seed ${FUZZ_SEED})`, () => {
  it('never lets load go to what must be named unless a rule is within it, nor past a deny rule', () => {
    const random = new Random(FUZZ_SEED);
    const rules = [
      '*',
      'loopback',
      'private',
      '*.test',
      'a.test',
      '0.0.0.0/0',
      '128.0.0.0/1',
      '169.0.0.0/8',
      '8000::/1',
      'unix:*',
    ];
    for (let i = 0; i < 2_000; i++) {
      const some = (): string[] => rules.filter(() => random.next() < 0.4);
      const policy = { allow: some(), deny: some() };
      const address = random.pick([...USUAL, ...PUBLIC, ...MUST_BE_NAMED]);
      const host = random.pick(['a.test', 'b.test', address]);
      const place = { host, port: random.int(1, 65_535), address };
      const kind = judged(policy, place);
      if (MUST_BE_NAMED.includes(address)) expect(kind, JSON.stringify({ policy, place })).toBe('refused');
      // What is denied stays refused, whatever is allowed beside it; less allowed never lets more through.
      expect(judged({ allow: ['*'], deny: policy.allow }, place) === 'allowed' && kind === 'allowed').toBe(
        false,
      );
      if (kind === 'refused')
        expect(judged({ ...policy, allow: policy.allow.slice(1) }, place)).toBe('refused');
    }
  });
});

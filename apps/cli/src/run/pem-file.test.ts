import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificateProblem, keyProblem, readCertificates, readPrivateKey } from './pem-file.js';

const [ONE = '', TWO = ''] = rootCertificates;
const DAMAGED = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const KEY = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const LOCKED = privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();

describe('the text of a file', () => {
  it.each([
    ['', 'is empty'],
    [' \n', 'is empty'],
    ['hello', 'holds no certificate in PEM form'],
    ['\u0030\u0082\u0003', 'holds no certificate in PEM form'],
    [ONE.slice(0, 200), 'holds no certificate in PEM form'],
    [KEY, 'holds a private key, and no certificate'],
    [DAMAGED, 'holds a certificate that is damaged'],
    [`${ONE}\n${DAMAGED}${TWO}`, 'holds 3 certificates, of which number 2 is damaged'],
    [`# a bundle\n${ONE}\n${TWO}\n`, undefined],
    [KEY + ONE, undefined],
  ])('%j holds certificates, or it is said what is wrong', (text, problem) => {
    expect(certificateProblem(text)).toBe(problem);
  });

  it.each([
    ['', 'is empty'],
    [ONE, 'holds no private key in PEM form'],
    [LOCKED, 'holds a key with a passphrase, which nobody could type'],
    [DAMAGED.replaceAll('CERTIFICATE', 'PRIVATE KEY'), 'holds a private key that is damaged'],
    [KEY, undefined],
    [ONE + KEY, undefined],
  ])('%j holds a key, or it is said what is wrong', (text, problem) => {
    expect(keyProblem(text)).toBe(problem);
  });
});

describe('a file that is named for certificates or a key', () => {
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broadside-pem-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('is refused in one line that names the flag, the file and what to give', async () => {
    const advice = 'give a file with certificates in PEM form (-----BEGIN CERTIFICATE-----)';
    await expect(readCertificates('--ca', '/dev/null')).rejects.toMatchObject({
      exitCode: 2,
      message: `--ca: /dev/null is empty; ${advice}`,
    });
    await expect(readCertificates('BROADSIDE_CA', folder)).rejects.toMatchObject({
      exitCode: 6,
      message: `BROADSIDE_CA: cannot read ${folder}: it is a folder; ${advice}`,
    });
    await expect(readCertificates('--ca', '/dev/zero')).rejects.toMatchObject({ exitCode: 6 });
    await expect(readPrivateKey('--tls-key', '/dev/null')).rejects.toMatchObject({
      exitCode: 2,
      message:
        '--tls-key: /dev/null is empty; give a file with a private key in PEM form (-----BEGIN PRIVATE KEY-----)',
    });
  });

  it('is handed on as it is', async () => {
    const path = join(folder, 'ca.pem');
    await writeFile(path, `# ours\n${ONE}\n`);
    expect(await readCertificates('--ca', path)).toBe(`# ours\n${ONE}\n`);
  });
});

/** The certificates of a run, and the client that verifies them. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from '@dinodns-bench/server-cluster';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates, SERVER_NAME } from '../src/certificates/certificates.ts';
import { objectIdentifier, time } from '../src/certificates/der.ts';
import { createDnsClient } from '../src/dns/client.ts';
import type { Trust } from '../src/dns/endpoint.ts';
import { realClock } from '../src/world.ts';

const NOW = new Date('2026-11-22T05:00:00Z');
const DAY = 24 * 3600 * 1000;

describe('the certificates of a run', () => {
  const made = makeCertificates(['127.0.0.1', '2001:db8::1'], NOW);
  const authority = new X509Certificate(made.authority);
  const certificate = new X509Certificate(made.certificate);

  it('are for the name and the addresses, and no others', () => {
    expect(certificate.checkHost(SERVER_NAME)).toBe(SERVER_NAME);
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkIP('2001:db8::1')).toBe('2001:db8::1');
    expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  });

  it('are issued by an authority of this run, which alone may issue', () => {
    expect(certificate.checkIssued(authority)).toBe(true);
    expect(certificate.verify(authority.publicKey)).toBe(true);
    expect(authority.verify(authority.publicKey)).toBe(true);
    expect([authority.ca, certificate.ca]).toEqual([true, false]);
    expect(certificate.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
    const other = new X509Certificate(makeCertificates([], NOW).authority);
    expect(certificate.verify(other.publicKey)).toBe(false);
  });

  it('are valid from a day before to thirty days after, also where the year needs four digits', () => {
    expect(certificate.validFromDate.getTime()).toBe(NOW.getTime() - DAY);
    expect(certificate.validToDate.getTime()).toBe(NOW.getTime() + 30 * DAY);
    const late = new Date('2049-12-31T23:59:59Z');
    const lasting = new X509Certificate(makeCertificates([], late).certificate);
    expect(lasting.validFromDate.toISOString()).toBe('2049-12-30T23:59:59.000Z');
    expect(lasting.validToDate.toISOString()).toBe('2050-01-30T23:59:59.000Z');
  });

  it('are written as X.690 wants it', () => {
    expect(objectIdentifier('1.2.840.10045.4.3.2').toString('hex')).toBe('06082a8648ce3d040302');
    expect(time(new Date('2026-11-22T05:00:00.999Z')).toString('latin1')).toBe('\x17\x0d261122050000Z');
    expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1')).toBe('\x18\x0f20500101000000Z');
  });
});

describe('the client of the answer check', () => {
  const directory = mkdtempSync(join(tmpdir(), 'trust-'));
  const pathOf = (name: string) => join(directory, name);
  const made = makeCertificates([], new Date());
  let server: ReturnType<typeof createServer>;
  let ports: { tls: number; https: number };
  beforeAll(async () => {
    writeFileSync(pathOf('c.pem'), made.certificate);
    writeFileSync(pathOf('k.pem'), made.key);
    const tls = { certificateFile: pathOf('c.pem'), keyFile: pathOf('k.pem'), port: 0, httpsPort: 0 };
    server = createServer({ port: 0, tls, logLevel: 'silent' });
    const { tlsPort = 0, httpsPort = 0 } = await server.start();
    ports = { tls: tlsPort, https: httpsPort };
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  async function ask(transport: 'tls' | 'https', { authority }: Certificates, serverName = SERVER_NAME) {
    const trust: Trust = { serverName, authority, authorityFile: '' };
    const endpoint = { address: '127.0.0.1', port: ports[transport], trust };
    const client = createDnsClient(endpoint, transport, realClock);
    try {
      const names = Array.from({ length: 30 }, (_, index) => `example${2 * index + 1}.com`);
      return await Promise.all(names.map((name) => client.ask({ name, type: 'A' })));
    } finally {
      client.close();
    }
  }

  it.each(['tls', 'https'] as const)('asks over %s, many queries at once', async (transport) => {
    const answers = await ask(transport, made);
    expect(new Set(answers.map(({ responseCode }) => responseCode))).toEqual(new Set(['NOERROR']));
    expect(answers.every(({ questionEchoed }) => questionEchoed)).toBe(true);
  });

  it.each(['tls', 'https'] as const)(
    'over %s believes no other authority and no other name',
    async (transport) => {
      await expect(ask(transport, makeCertificates([], new Date()))).rejects.toThrow(/certificate/);
      await expect(ask(transport, made, 'example.com')).rejects.toThrow(/altnames|does not match/);
    },
  );
});

/** OpenSSL's opinion of the certificates of a run. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { expect, test } from 'vitest';
import { makeCertificates, SERVER_NAME } from '../src/certificates/certificates.ts';

const execute = promisify(execFile);

test('OpenSSL accepts them by its strict rules, for their purpose and name', needs('openssl'), async () => {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  try {
    const made = makeCertificates(['127.0.0.1'], new Date());
    const authority = join(directory, 'a.pem');
    const certificate = join(directory, 'c.pem');
    writeFileSync(authority, made.authority);
    writeFileSync(certificate, made.certificate);
    const verify = (...args: string[]) =>
      execute('openssl', ['verify', '-x509_strict', '-CAfile', authority, ...args, certificate]);
    const purpose = ['-purpose', 'sslserver'];
    expect((await verify(...purpose, '-verify_hostname', SERVER_NAME)).stdout).toContain('c.pem: OK');
    expect((await verify(...purpose, '-verify_ip', '127.0.0.1')).stdout).toContain('c.pem: OK');
    await expect(verify('-verify_hostname', 'example.com')).rejects.toThrow(/hostname mismatch/);
    await expect(verify('-purpose', 'sslclient')).rejects.toThrow(/purpose/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

/** A real CoreDNS with every transport, its certificate made by openssl. */
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate, pathOf } from '@dinodns-bench/test-support';

export interface TestCoredns {
  /** UDP and TCP. */
  readonly dnsPort: number;
  readonly tlsPort: number;
  readonly httpsPort: number;
  /** PEM file of the certificate, for `127.0.0.1` and `dns.test`; self-signed. */
  readonly caFile: string;
  readonly keyFile: string;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** `example.test` with an address, `big.example.test` with 40 (too many for 512 bytes), all else NXDOMAIN. */
export async function startCoredns(): Promise<TestCoredns> {
  const directory = mkdtempSync(join(tmpdir(), 'dnscannon-coredns-'));
  const { certificate, key } = makeCertificate(directory, 'DNS:dns.test,IP:127.0.0.1');
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  const big = Array.from({ length: 40 }, (_, i) => `big A 127.0.0.${i + 1}`);
  writeFileSync(
    join(directory, 'zone'),
    [
      '@ 60 SOA ns.invalid. h.invalid. 1 2 3 4 5',
      '@ NS ns.invalid.',
      '@ A 127.0.0.1',
      '@ AAAA ::1',
      ...big,
      '',
    ].join('\n'),
  );
  const file = `  bind 127.0.0.1\n  file ${join(directory, 'zone')} example.test`;
  const tls = `  tls ${certificate} ${key}`;
  writeFileSync(
    join(directory, 'Corefile'),
    [
      `example.test:${ports[0]} {\n${file}\n}`,
      `tls://example.test:${ports[1]} {\n${file}\n${tls}\n}`,
      `https://example.test:${ports[2]} {\n${file}\n${tls}\n}`,
    ].join('\n'),
  );
  const child = spawn(pathOf('coredns'), ['-conf', join(directory, 'Corefile')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('CoreDNS-')) resolve();
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    child.once('exit', () => reject(new Error(`CoreDNS did not start: ${said}`)));
  });
  return {
    dnsPort: ports[0],
    tlsPort: ports[1],
    httpsPort: ports[2],
    caFile: certificate,
    keyFile: key,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

/** `bench servers --check` over every transport, with the certificate of the run. Every server over TLS and HTTPS: local-real-servers.servers.test.ts. */
import { fileNeeds } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';

const { it } = fileNeeds('coredns');

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

it('CoreDNS answers correctly over UDP, TCP, TLS and HTTPS', async () => {
  expect(await world.bench('servers', '--check', 'coredns')).toBe(0);
  const lines = world.out().trim().split('\n');
  expect(lines.map((line) => line.slice(line.lastIndexOf(' ') + 1))).toEqual(['udp', 'tcp', 'tls', 'https']);
  for (const line of lines) expect(line).toContain('answers all 200 queries correctly');
});

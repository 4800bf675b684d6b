/** Every server that answers over TLS or HTTPS does so, with the certificate of the run. */
import { needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

describe.for([
  { server: 'coredns', program: 'coredns', over: ['udp', 'tcp', 'tls', 'https'] },
  { server: 'bind', program: 'named', over: ['udp', 'tcp', 'tls'] },
  { server: 'unbound', program: 'unbound', over: ['udp', 'tcp', 'tls', 'https'] },
  { server: 'nsd', program: 'nsd', over: ['udp', 'tcp', 'tls'] },
] as const)('$server', ({ server, program, over }) => {
  it(`answers correctly over ${over.join(', ')}`, needs(program), async () => {
    expect(await world.bench('servers', '--check', server)).toBe(0);
    const lines = world.out().trim().split('\n');
    expect(lines.map((line) => line.slice(line.lastIndexOf(' ') + 1))).toEqual(over);
    for (const line of lines) expect(line).toContain('answers all 200 queries correctly');
  });
});

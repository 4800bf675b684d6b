/** A reload whose zones do not fit where the server keeps its copies of them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '@dinodns-bench/test-support';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ask, RCODE } from './support/client.ts';
import { killAll, startServer } from './support/server-process.ts';

let directory: string;
let small: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'full-disk-'));
  small = join(directory, 'small');
  mkdirSync(small);
});
afterEach(async () => {
  await killAll();
  // Not mounted where the test was left out.
  if (readdirSync(directory).includes('small')) execFileSync('umount', ['--lazy', '--quiet', small]);
  rmSync(directory, { recursive: true });
});

const zoneOf = (hosts: number) =>
  `$TTL 60\n@ SOA ns.test. h.test. 1 7200 3600 1209600 60\n@ NS ns.test.\n${Array.from({ length: hosts }, (_none, index) => `h${index} A 10.0.${index >> 8}.${index & 255}\n`).join('')}`;

test.each(['single', 'multi'])(
  'fails, says why, leaves the zones as they are in mode %s, and the next one works',
  needs('root'),
  async (mode) => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300k', 'tmpfs', small]);
    const file = join(directory, 'z.test.zone');
    writeFileSync(file, zoneOf(10));
    const flags = ['--mode', mode, '--zone', `z.test=${file}`];
    const environment = ['env', `TMPDIR=${small}`, 'NODE_DISABLE_COMPILE_CACHE=1'];
    const server = await startServer(flags, { wrapper: environment });
    const rcodeOf = async (name: string) => (await ask('udp', server.ready, name)).rcode;
    expect(await rcodeOf('h9.z.test')).toBe(RCODE.NOERROR);

    writeFileSync(file, zoneOf(60_000));
    server.child.kill('SIGHUP');
    await expect.poll(() => server.stderr).toMatch(/The zones were not reloaded[\s\S]*ENOSPC/);
    expect([await rcodeOf('h9.z.test'), await rcodeOf('h10.z.test')]).toEqual([
      RCODE.NOERROR,
      RCODE.NXDOMAIN,
    ]);

    writeFileSync(file, zoneOf(20));
    server.child.kill('SIGHUP');
    await expect.poll(() => rcodeOf('h10.z.test')).toBe(RCODE.NOERROR);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect(readdirSync(small)).toEqual([]);
  },
);

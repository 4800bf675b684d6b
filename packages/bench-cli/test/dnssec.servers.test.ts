/** `--dnssec`: zones that real tools have signed, and servers that answer with their signatures. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { needs, pathOf } from '@dinodns-bench/test-support';
import { encodeName, TYPE } from '@dinodns-bench/wire';
import { defineZoneSet, readZoneFile } from '@dinodns-bench/zones';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordSchema } from '../src/results/record.ts';
import { signZones } from '../src/signing/sign-zones.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
afterEach(() => world.remove());

const { signal } = new AbortController();

describe('signed zones', needs('dnssec-signzone', 'ldns-signzone'), () => {
  test.each(['dnssec-signzone', 'ldns-signzone'])(
    'of %s have valid signatures, NSEC records and one key',
    async (tool) => {
      const zoneSet = defineZoneSet({ to: 5 });
      await signZones(world, zoneSet, world.directory, signal, [tool]);
      const files = (await readdir(world.directory)).filter((name) => name.endsWith('.zone'));
      expect(files.sort()).toEqual(['example1.com.zone', 'example3.com.zone', 'example5.com.zone']);
      const verify = pathOf('dnssec-signzone').replace(/signzone$/, 'verify');
      const keys = new Set<string>();
      for (const file of files) {
        const origin = file.replace(/zone$/, '');
        const path = join(world.directory, file);
        const { status, stderr } = spawnSync(verify, ['-z', '-o', origin, path], { encoding: 'utf8' });
        expect(status, stderr).toBe(0);
        for (const { type, name, data } of readZoneFile(path, { origin })) {
          expect(Buffer.from(name)).toEqual(encodeName(origin.slice(0, -1)));
          if (type === TYPE.DNSKEY) keys.add(Buffer.from(data).toString('hex'));
        }
      }
      expect(keys.size).toBe(1);
    },
  );
});

test('without a tool that signs, the error says what to install', async () => {
  const zoneSet = defineZoneSet({ to: 1 });
  await expect(signZones(world, zoneSet, world.directory, signal, ['other-signzone'])).rejects.toMatchObject({
    code: 'E_TOOL_MISSING',
    fix: expect.stringContaining('bind9-utils'),
  });
});

describe('a run', needs('coredns', 'dnsperf', 'knotd', 'nsd', 'dnssec-signzone'), () => {
  // What the servers answer does not depend on who asks.
  test.each([
    ['dnsperf', ['coredns+file', 'knot', 'nsd', 'dinodns']],
    ['builtin', ['knot']],
  ])(
    'with --dnssec checks and measures servers that can, with %s',
    { timeout: 120_000 },
    async (loader, servers) => {
      const args = ['--servers', servers.join(','), '--dnssec', '--loader', loader, '--types', 'A,TXT'];
      const short = ['--duration', '1', '--warmup', '0', '--zones', '10', '--trials', '1', '--rate', '500'];
      expect(await world.bench(...args, ...short, '--json'), world.err()).toBe(0);
      const record = recordSchema.parse(JSON.parse(world.out()));
      expect(record.cases.map(({ server }) => server)).toEqual(servers);
      for (const trial of record.trials) {
        if (trial.status !== 'ok') throw new Error(JSON.stringify(trial.failure));
        // Two types of 20 names, half of which are in no zone.
        expect(trial.checkedAnswers).toBe(40);
        expect(trial.metrics.qps).toBeGreaterThan(100);
        expect(Object.keys(trial.load.responseCodes).sort()).toEqual(['NOERROR', 'REFUSED']);
      }
      expect(record.configuration).toMatchObject({ dnssec: true });
      const loaders = world.started.map(({ command }) => command.join(' '));
      expect(loaders.some((command) => / -D( |$)|"dnssec":true/.test(command))).toBe(true);
      const files = record.servers.find(({ name }) => name === 'knot')?.files['knot.conf'] ?? '';
      expect(files).toContain('/signed/example1.com.zone');
      await expect(readFile(/file: "(.*)"/.exec(files)?.[1] ?? '')).rejects.toThrow('ENOENT');
    },
  );
});

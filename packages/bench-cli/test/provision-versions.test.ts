/** Versions that a server's name asks for: which exist, and getting another version of the framework. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createProvisioner } from '../src/provision/provision.ts';
import { nearestVersions } from '../src/provision/versions.ts';
import { corednsProgram } from '../src/servers/coredns/program.ts';
import { dinodnsProgram } from '../src/servers/dinodns/program.ts';
import { realWorld, type World } from '../src/world.ts';
import { emptyMachine, httpServer, type Machine } from './provision-fixtures.ts';

const KNOWN = ['1.9.0', '1.10.0', '1.11.3', '1.12.0-rc.1', '1.13.1', '1.14.0', '1.15.0'];

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Port 1 of loopback refuses connections. */
const NOBODY = 'http://127.0.0.1:1';

async function machineWith(scripts: Readonly<Record<string, string>>, releases = NOBODY): Promise<Machine> {
  const machine = await emptyMachine({ GOPROXY: NOBODY, DINODNS_BENCH_COREDNS_RELEASES: releases });
  closers.push(machine.remove);
  for (const [name, text] of Object.entries(scripts)) await machine.script(name, text);
  return machine;
}

const { signal } = new AbortController();
const demandCoredns = (world: World, version: string) =>
  corednsProgram.demandVersion?.(world, { version }, signal);
const demandDinodns = (world: World, version: string) =>
  dinodnsProgram.demandVersion?.(world, { version }, signal);

describe('the nearest versions', () => {
  it('are the two releases on each side, and the latest', () => {
    expect(nearestVersions('1.11.4', KNOWN)).toEqual(['1.10.0', '1.11.3', '1.13.1', '1.14.0', '1.15.0']);
    expect(nearestVersions('2.0.0', KNOWN)).toEqual(['1.14.0', '1.15.0']);
    expect(nearestVersions('0.1.0', KNOWN)).toEqual(['1.9.0', '1.10.0', '1.15.0']);
  });

  it('of what is no release are the latest', () => {
    expect(nearestVersions('newest', KNOWN)).toEqual(['1.15.0']);
  });
});

describe('a version of CoreDNS', () => {
  /** The Go tool as far as bench uses it. What it lists is shorter than what there is, as with some proxies. */
  const go = (others: string) => `
case "$*" in
  *-versions*) echo github.com/coredns/coredns ${KNOWN.map((version) => `v${version}`).join(' ')} ;;
  *@v1.11.4|*@v1.13.1) echo "\${3}" ;;
  *) echo "go: ${others}" >&2; exit 1 ;;
esac`;
  const absent = go('github.com/coredns/coredns@v1.13.2: invalid version: unknown revision v1.13.2');

  it('is taken where it exists, though a list does not have it', async () => {
    const { world } = await machineWith({ go: absent });
    await expect(demandCoredns(world, '1.11.4')).resolves.toBeUndefined();
  });

  it('that does not exist is refused with the nearest that do, before anything is got', async () => {
    const { world } = await machineWith({ go: absent });
    await expect(demandCoredns(world, '1.13.2')).rejects.toMatchObject({
      code: 'E_UNKNOWN_SERVER',
      exitStatus: 2,
      message: expect.stringContaining('there is no CoreDNS 1.13.2'),
      fix: 'The nearest versions are 1.11.3, 1.13.1, 1.14.0, 1.15.0.',
    });
    await expect(demandCoredns(world, '1.13.1')).resolves.toBeUndefined();
  });

  it('is taken where it was released, though the Go module proxy does not have it', async () => {
    const asked: string[] = [];
    const { url, close } = await httpServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(request.url?.startsWith('/v1.13.2/') === true ? 200 : 404).end('x');
    });
    closers.push(close);
    const { world } = await machineWith({ go: absent }, url);
    await expect(demandCoredns(world, '1.13.2')).resolves.toBeUndefined();
    await expect(demandCoredns(world, '1.13.9')).rejects.toMatchObject({ code: 'E_UNKNOWN_SERVER' });
    expect(asked[0]).toBe('/v1.13.2/coredns_1.13.2_linux_amd64.tgz.sha256');
  });

  it('passes where nobody can be asked, so that the attempt to get it says why', async () => {
    for (const script of ['exit 1', go('reading …/v1.13.2.info: 502 Bad Gateway')]) {
      const { world } = await machineWith({ go: script });
      await expect(demandCoredns(world, '1.13.2')).resolves.toBeUndefined();
    }
  });

  it('that the proxy withholds and nobody else has is refused before anything is built, without a word on whether it exists', async () => {
    const { url, close } = await httpServer((request, response) => {
      response.writeHead(request.url?.startsWith('/v1.13.2/') === true ? 200 : 404).end('x');
    });
    closers.push(close);
    const withheld = go('reading http://proxy/v1.13.2.info: 403 Forbidden');
    const { world } = await machineWith({ go: withheld });
    await expect(demandCoredns(world, '1.13.2')).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      message: 'CoreDNS 1.13.2 can be neither downloaded nor built',
      evidence: [
        expect.stringMatching(/^release archive: .*\/v1\.13\.2\/.*\.tgz cannot be had$/),
        'go install: reading http://proxy/v1.13.2.info: 403 Forbidden',
      ],
      fix: expect.stringMatching(
        /^The nearest versions are 1\.11\.3, 1\.13\.1, 1\.14\.0, 1\.15\.0\. Or put the executable of CoreDNS 1\.13\.2 at \/.*\/1\.13\.2\/coredns\.$/,
      ),
    });
    const released = await machineWith({ go: withheld }, url);
    await expect(demandCoredns(released.world, '1.13.2')).resolves.toBeUndefined();
  });

  it.each([
    [404, 'rejects'],
    [410, 'rejects'],
    [403, 'resolves'],
    [500, 'resolves'],
  ] as const)('is asked of the proxy where Go is missing: status %d %s', async (status, outcome) => {
    const asked: string[] = [];
    const { url, close } = await httpServer((request, response) => {
      asked.push(request.url ?? '');
      const found = request.url?.endsWith('/@v/list')
        ? 'v1.15.0\n'
        : request.url?.endsWith('/v1.11.3.info')
          ? '{}'
          : null;
      response.writeHead(found === null ? status : 200).end(found ?? '');
    });
    closers.push(close);
    const machine = await emptyMachine({
      GOPROXY: `${url},direct`,
      DINODNS_BENCH_COREDNS_RELEASES: NOBODY,
    });
    closers.push(machine.remove);
    await expect(demandCoredns(machine.world, '1.11.3')).resolves.toBeUndefined();
    if (outcome === 'resolves') await expect(demandCoredns(machine.world, '9.9.9')).resolves.toBeUndefined();
    else
      await expect(demandCoredns(machine.world, '9.9.9')).rejects.toMatchObject({
        fix: 'The nearest version is 1.15.0.',
      });
    expect(asked).toContain('/github.com/coredns/coredns/@v/v9.9.9.info');
  });
});

describe('another version of the framework', () => {
  /** npm as far as bench uses it: two versions, of which `install` makes the directories. */
  const npm = `
case "$1" in
  view)
    case "$2 $3" in
      'dinodns versions') echo '["0.0.13"]' ;;
      'dinodns@0.0.12 version') echo '"0.0.12"' ;;
      'dinodns@0.1.0 version') echo '{"error":{"code":"E404"}}'; exit 1 ;;
      *) echo '{"error":{"code":"ECONNREFUSED"}}'; exit 1 ;;
    esac ;;
  install)
    root=$3
    for last; do :; done
    version=\${last#dinodns@}
    /bin/mkdir -p $root/node_modules/dinodns
    echo "{\\"packages\\":{\\"node_modules/dinodns\\":{\\"version\\":\\"$version\\",\\"integrity\\":\\"sha512-x\\"}}}" > $root/node_modules/.package-lock.json
    echo "{\\"name\\":\\"dinodns\\",\\"version\\":\\"$version\\"}" > $root/node_modules/dinodns/package.json ;;
esac`;

  it('is refused with the nearest that exist, only where npm denies it', async () => {
    const { world } = await machineWith({ npm });
    await expect(demandDinodns(world, '0.0.12')).resolves.toBeUndefined();
    await expect(demandDinodns(world, '0.0.11')).resolves.toBeUndefined();
    await expect(demandDinodns(world, '0.1.0')).rejects.toMatchObject({
      code: 'E_UNKNOWN_SERVER',
      fix: 'The nearest version is 0.0.13.',
    });
  });

  it('is installed into the cache once, and the server is told where it is', async () => {
    const machine = await machineWith({ npm });
    const world = { ...machine.world, fs: realWorld().fs };
    const get = (allowed: boolean) =>
      createProvisioner(world)(dinodnsProgram, { ...machine.options, allowed, version: '0.0.12' });
    const tool = await get(true);
    const cache = join(machine.home, 'cache', 'dinodns-bench');
    expect(tool.arguments).toEqual([
      '--framework',
      join(cache, 'dinodns', '0.0.12', 'node_modules', 'dinodns'),
    ]);
    expect(tool.origin).toContain('dinodns 0.0.12 (npm install --ignore-scripts dinodns@0.0.12, sha512-x)');
    expect(await get(false)).toEqual(tool);
    expect(await readdir(join(cache, 'staging'))).toEqual([]);
  });

  it('that is the one of the workspace needs no npm', async () => {
    const machine = await machineWith({});
    const world = { ...machine.world, fs: realWorld().fs };
    const options = { ...machine.options, version: '0.0.13' };
    const tool = await createProvisioner(world)(dinodnsProgram, options);
    expect(tool).toMatchObject({ source: 'workspace' });
    expect(tool.arguments).toBeUndefined();
  });
});

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { inspectMachine } from '../src/doctor/inspect-machine.ts';
import { inspectTools } from '../src/doctor/inspect-tools.ts';
import { dnsperfProgram } from '../src/loaders/dnsperf/program.ts';
import { parseAptDownload } from '../src/provision/package-manager.ts';
import { createProvisioner, type Program } from '../src/provision/provision.ts';
import { DNSPERF_VERSION, GO_VERSION, readVersion } from '../src/provision/tool-version.ts';
import { dinodnsProgram } from '../src/servers/dinodns/program.ts';
import { findServer } from '../src/servers/registry.ts';
import { realWorld, type World } from '../src/world.ts';
import { systemError } from './local-fixtures.ts';
import { emptyMachine, type Machine, VERSION } from './provision-fixtures.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A machine on which nothing outside of its own PATH can be executed. */
async function bareMachine(userId = 0): Promise<Machine> {
  const machine = await emptyMachine({ DINODNS_BENCH_COREDNS_RELEASES: 'http://127.0.0.1:1' });
  closers.push(machine.remove);
  const access: World['fs']['access'] = (path, mode) =>
    String(path).startsWith(machine.home)
      ? machine.world.fs.access(path, mode)
      : Promise.reject(systemError('ENOENT'));
  const world: World = {
    ...machine.world,
    fs: { ...machine.world.fs, access },
    machine: { ...machine.world.machine, userId },
  };
  return { ...machine, world };
}

/** apt-get as Debian's behaves with a list of packages that must first be brought up to date. */
function aptThatNeedsUpdate(machine: Machine): Promise<void> {
  const { home, bin } = machine;
  return machine.script(
    'apt-get',
    `echo "$DEBIAN_FRONTEND $*" >> ${home}/apt.log
case "$*" in
  update) : > ${home}/updated ;;
  *--print-uris*)
    [ -e ${home}/updated ] || { echo "E: Unable to locate package dnsperf" >&2; exit 100; }
    echo "Need to get 79.8 kB of archives."
    echo "'http://deb.example/debian/pool/main/d/dnsperf/dnsperf_2.10.0-2_amd64.deb' dnsperf_2.10.0-2_amd64.deb 79812" ;;
  *)
    echo "Setting up dnsperf (2.10.0-2) ..."
    printf '#!/bin/sh\\necho Version 2.10.0\\n' > ${bin}/dnsperf
    /bin/chmod 755 ${bin}/dnsperf ;;
esac`,
  );
}

describe('dnsperf', () => {
  test('is installed by the package manager, after an update if it is unknown, and says from where', async () => {
    const machine = await bareMachine();
    await aptThatNeedsUpdate(machine);
    const tool = await createProvisioner(machine.world)(dnsperfProgram, machine.options);
    expect(tool).toMatchObject({
      version: '2.10.0',
      executable: join(machine.bin, 'dnsperf'),
      source: 'package-manager',
      origin: 'apt-get install dnsperf from deb.example',
    });
    expect(machine.told).toContain('Installing dnsperf: 79.8 kB from deb.example');
    const calls = (await readFile(join(machine.home, 'apt.log'), 'utf8')).trim().split('\n');
    expect(calls).toHaveLength(4);
    expect(calls[1]).toBe('noninteractive update');
    expect(calls[3]).toMatch(/^noninteractive install -y --no-install-recommends .*dnsperf$/);
  });

  test('that cannot be installed is reported with the words of the package manager', async () => {
    const machine = await bareMachine();
    await machine.script('apt-get', 'echo "E: Could not resolve host" >&2; exit 100');
    await expect(createProvisioner(machine.world)(dnsperfProgram, machine.options)).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      evidence: [
        'PATH: it is not there',
        'package manager: apt-get install dnsperf failed: E: Could not resolve host',
      ],
      fix: 'Install it: apt-get install dnsperf',
    });
  });

  test.each([
    [
      'dpkg: error: 1 expected program not found in PATH\nE: Sub-process /usr/bin/dpkg returned an error code',
      0,
    ],
    ['E: Failed to fetch http://deb.example/dnsperf.deb\nE: Unable to fetch some archives', 0],
    ['Reading package lists...\nSegmentation fault', 1],
  ])('says the reason of a failed installation: %s', async (said, line) => {
    const machine = await bareMachine();
    await machine.script('apt-get', `printf '%s\\n' '${said}' >&2; exit 100`);
    await expect(createProvisioner(machine.world)(dnsperfProgram, machine.options)).rejects.toMatchObject({
      evidence: [
        'PATH: it is not there',
        `package manager: apt-get install dnsperf failed: ${said.split('\n')[line]}`,
      ],
    });
  });

  test('that is installed where PATH does not lead is said to be there', async () => {
    const machine = await bareMachine();
    await machine.script('apt-get', 'echo "Need to get 79.8 kB of archives."');
    await expect(createProvisioner(machine.world)(dnsperfProgram, machine.options)).rejects.toMatchObject({
      evidence: [
        'PATH: it is not there',
        'package manager: apt-get install dnsperf worked, but in PATH it is not there',
      ],
    });
  });

  test('is not installed where a password would be asked for', async () => {
    const machine = await bareMachine(1000);
    await machine.script('apt-get', `: > ${machine.home}/called`);
    await machine.script('sudo', 'echo "sudo: a password is required" >&2; exit 1');
    await expect(createProvisioner(machine.world)(dnsperfProgram, machine.options)).rejects.toMatchObject({
      evidence: [
        'PATH: it is not there',
        'package manager: apt-get needs root, and sudo would ask for a password',
      ],
      fix: 'Install it: sudo apt-get install dnsperf',
    });
    await expect(readFile(join(machine.home, 'called'))).rejects.toThrow('ENOENT');
  });

  test('is installed with a sudo that asks nothing', async () => {
    const machine = await bareMachine(1000);
    await aptThatNeedsUpdate(machine);
    await machine.script('sudo', `[ "$1" = -n ] || exit 1; shift; exec "$@"`);
    await machine.script('true', '');
    const tool = await createProvisioner(machine.world)(dnsperfProgram, machine.options);
    expect(tool.source).toBe('package-manager');
  });

  test('is not installed under --no-provision', async () => {
    const machine = await bareMachine();
    await aptThatNeedsUpdate(machine);
    const options = { ...machine.options, allowed: false };
    await expect(createProvisioner(machine.world)(dnsperfProgram, options)).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      evidence: ['PATH: it is not there'],
    });
    await expect(readFile(join(machine.home, 'apt.log'))).rejects.toThrow('ENOENT');
  });

  test('is found on this machine, or can be installed', async () => {
    const { found, installMethod, fix } = await dnsperfProgram.inspect(realWorld(), {
      version: VERSION,
    });
    expect(found?.version ?? installMethod ?? fix).toMatch(/\S/);
  });
});

function programOf(server: string): Program {
  const program = findServer(server, { corednsVersion: VERSION }).program;
  if (program == null) throw new Error(`${server} has no program`);
  return program;
}

describe('other tools', () => {
  test('optional servers are never installed; the fix says how the user does it', async () => {
    const machine = await bareMachine();
    await aptThatNeedsUpdate(machine);
    await expect(createProvisioner(machine.world)(programOf('knot'), machine.options)).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      fix: 'Install it: apt-get install knot, or omit this server from --servers.',
    });
  });

  test('the DinoDNS server is the one of this workspace', async () => {
    const machine = await bareMachine();
    const world = { ...machine.world, fs: realWorld().fs };
    const tool = await createProvisioner(world)(dinodnsProgram, { ...machine.options, version: null });
    expect(tool).toMatchObject({ source: 'workspace', version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(tool.executable).toMatch(/server-cluster\/src\/cli\.ts$/);
    expect(tool.origin).toMatch(/with dinodns \d+\.\d+\.\d+ on Node\.js \d+/);
  });

  test.each([
    ['bind', 'apt-get', 'apt-get install bind9'],
    ['bind', 'apk', 'apk add bind'],
    ['powerdns+uncached', 'apt-get', 'apt-get install pdns-server pdns-backend-bind'],
    ['dnsmasq', 'dnf', 'dnf install dnsmasq'],
  ])('the fix for a missing %s names the packages of %s', async (server, manager, command) => {
    const machine = await bareMachine();
    await machine.script(manager, 'exit 1');
    await expect(createProvisioner(machine.world)(programOf(server), machine.options)).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      fix: `Install it: ${command}, or omit this server from --servers.`,
    });
  });

  test.each([
    ['bind', 'BIND 9.18.49-1~deb12u3-Debian (Extended Support Version) <id:>', '9.18.49'],
    ['bind', 'BIND 9.20.4 (Stable Release) <id:150f1f7>', '9.20.4'],
    [
      'powerdns',
      'Nov 22 05:08:29 PowerDNS Authoritative Server 4.7.3 (C) 2001-2022 PowerDNS.COM BV',
      '4.7.3',
    ],
    ['unbound', 'Version 1.17.1\n\nConfigure line: --build=x86_64-linux-gnu', '1.17.1'],
    ['dnsmasq', 'Dnsmasq version 2.90  Copyright (c) 2000-2024 Simon Kelley', '2.90'],
  ])('the version of %s is read from "%s"', (name, output, version) => {
    expect(findServer(name, { corednsVersion: VERSION }).parseVersion(output)?.version).toBe(version);
  });

  test('versions are read from what the tools print', () => {
    const [coredns, knot, nsd] = ['coredns', 'knot', 'nsd'].map((name) =>
      findServer(name, { corednsVersion: VERSION }),
    );
    expect(coredns?.parseVersion('CoreDNS-1.15.0\nlinux/amd64, go1.26.8, \n')).toEqual({
      version: '1.15.0',
      components: { go: '1.26.8' },
    });
    expect(coredns?.parseVersion('command not found')).toBeNull();
    expect(knot?.parseVersion('knotd (Knot DNS), version 3.2.6')?.version).toBe('3.2.6');
    expect(nsd?.parseVersion('NSD version 4.6.1\nWritten by NLnet Labs.')?.version).toBe('4.6.1');
    expect(readVersion(DNSPERF_VERSION, 'DNS Performance Testing Tool\nVersion 2.10.0\n\nUsage')).toBe(
      '2.10.0',
    );
    expect(readVersion(GO_VERSION, 'go version go1.26.8 linux/amd64')).toBe('1.26.8');
  });

  test("apt-get's plan tells the size and the hosts", () => {
    const plan = `Need to get 1,234 kB/2,345 kB of archives.
'http://deb.example/debian/pool/a.deb' a.deb 1 MD5Sum:x
'https://security.example/b.deb' b.deb 2
'http://deb.example/debian/pool/c.deb' c.deb 3
`;
    expect(parseAptDownload(plan)).toEqual({ size: '1,234 kB', hosts: ['deb.example', 'security.example'] });
    expect(parseAptDownload('dnsperf is already the newest version')).toBeNull();
  });
});

describe('bench doctor', () => {
  test('says of missing tools why, and how they would be got, and changes nothing', async () => {
    const machine = await bareMachine();
    await machine.script('apt-get', `: > ${machine.home}/called`);
    const tools = await inspectTools(machine.world);
    const of = (name: string) => tools.find(({ program }) => program.name === name);
    expect(of('coredns')).toMatchObject({
      found: null,
      problem: expect.stringContaining('in PATH: it is not there'),
      installMethod: expect.stringMatching(/^downloaded from http:\/\/127\.0\.0\.1:1\//),
    });
    expect(of('dnsperf')?.installMethod).toBe('installed with apt-get install dnsperf');
    expect(of('nsd')).toMatchObject({
      program: { optional: true },
      installMethod: null,
      fix: 'Install it: apt-get install nsd',
    });
    await expect(readFile(join(machine.home, 'called'))).rejects.toThrow('ENOENT');
  });

  test('checks this machine', async () => {
    const world = realWorld();
    const checks = await inspectMachine(world, { neededCpus: 10_000 });
    const of = (name: string) => checks.find((check) => check.name === name);
    expect(of('node')?.state).toBe('ok');
    expect(of('cores')).toMatchObject({ state: 'notice', advice: expect.stringContaining('contended') });
    expect(of('cpu-limits')?.found).toMatch(/quota|scope|affinity|none/);
    expect(of('socket-buffers')?.found).toMatch(/\d+ bytes by default/);
    expect(of('disk')?.found).toMatch(/GB free/);
    expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  });
});

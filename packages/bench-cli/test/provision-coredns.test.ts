import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { cacheRoot } from '../src/provision/cache.ts';
import { DownloadError } from '../src/provision/download.ts';
import { createProvisioner } from '../src/provision/provision.ts';
import { countBuildLine } from '../src/servers/coredns/go-install.ts';
import { corednsProgram } from '../src/servers/coredns/program.ts';
import { corednsArchiveUrl } from '../src/servers/coredns/release.ts';
import { systemError } from './local-fixtures.ts';
import {
  archiveOf,
  emptyMachine,
  fakeCoredns,
  httpServer,
  type Machine,
  VERSION,
} from './provision-fixtures.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ARCHIVE = `/v${VERSION}/coredns_${VERSION}_linux_amd64.tgz`;

async function machineWith(
  handle?: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Machine> {
  // Port 1 of loopback refuses connections.
  const server = handle === undefined ? undefined : await httpServer(handle);
  if (server !== undefined) closers.push(server.close);
  const machine = await emptyMachine({
    DINODNS_BENCH_COREDNS_RELEASES: `${server?.url ?? 'http://127.0.0.1:1'}/`,
  });
  closers.push(machine.remove);
  return machine;
}

/** Serves the checksum, and whatever `archive` does. */
function releases(sha256: string, archive: (response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === `${ARCHIVE}.sha256`) response.end(`${sha256}  coredns.tgz\n`);
    else if (request.url === ARCHIVE) archive(response);
    else response.writeHead(404).end();
  };
}

async function failureOf(machine: Machine): Promise<BenchError> {
  const error: unknown = await createProvisioner(machine.world)(corednsProgram, machine.options).catch(
    (thrown) => thrown,
  );
  if (!(error instanceof BenchError)) throw new Error(`expected a BenchError, got ${String(error)}`);
  return error;
}

async function stagingLeft({ world }: Machine): Promise<string[]> {
  return readdir(join(cacheRoot(world), 'staging')).catch(() => []);
}

describe('CoreDNS from its release', () => {
  test('is downloaded, checked, cached and used from the cache afterwards', async () => {
    const { archive, sha256 } = await archiveOf(fakeCoredns(VERSION));
    const machine = await machineWith((request, response) => {
      // As the real releases do, over a redirect to where the file is.
      if (request.url === ARCHIVE) response.writeHead(302, { location: '/elsewhere' }).end();
      else if (request.url === '/elsewhere')
        response.writeHead(200, { 'content-length': archive.length }).end(archive);
      else response.end(`${sha256.toUpperCase()}  coredns.tgz`);
    });
    const provide = createProvisioner(machine.world);
    const tool = await provide(corednsProgram, machine.options);
    const executable = join(machine.home, 'cache/dinodns-bench/coredns', VERSION, 'coredns');
    expect(tool).toEqual({
      tool: 'coredns',
      version: VERSION,
      executable,
      source: 'release-archive',
      origin: expect.stringMatching(
        new RegExp(`^http.*${VERSION}.*\\.tgz \\(0\\.0 MB, SHA-256 ${sha256}\\)$`),
      ),
      sizeBytes: fakeCoredns(VERSION).length,
    });
    expect(machine.told[0]).toContain(`Getting CoreDNS ${VERSION} from http://127.0.0.1:`);
    expect(machine.told.some((text) => text.includes(' MB of '))).toBe(true);
    expect(await stagingLeft(machine)).toEqual([]);

    const again = await provide(corednsProgram, { ...machine.options, allowed: false });
    expect(again).toEqual({ ...tool, source: 'cache' });
  });

  test('of which there is none is reported with its address, and nothing is left', async () => {
    const machine = await machineWith((_, response) => response.writeHead(404).end('not found'));
    const error = await failureOf(machine);
    expect(error.code).toBe('E_TOOL_MISSING');
    expect(error.evidence).toEqual([
      expect.stringContaining('cache: '),
      'PATH: it is not there',
      expect.stringMatching(/^release archive: http.*\.sha256: HTTP status 404$/),
      'go install: Go is not installed',
    ]);
    expect(error.fix).toContain(`cache/dinodns-bench/coredns/${VERSION}/coredns, or install Go`);
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('with another checksum than published is not used', async () => {
    const { archive } = await archiveOf(fakeCoredns(VERSION));
    const machine = await machineWith(releases('a'.repeat(64), (response) => response.end(archive)));
    expect((await failureOf(machine)).evidence[2]).toMatch(
      /has SHA-256 [0-9a-f]{64}, but a{64} is published: not used/,
    );
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('without a published checksum is not used', async () => {
    const machine = await machineWith(releases('none', (response) => response.end('x')));
    expect((await failureOf(machine)).evidence[2]).toMatch(/contains no SHA-256 checksum$/);
  });

  test('that is cut off on the way is not used', async () => {
    const { archive, sha256 } = await archiveOf(fakeCoredns(VERSION));
    const machine = await machineWith(
      releases(sha256, (response) => {
        response.writeHead(200, { 'content-length': archive.length });
        response.write(archive.subarray(0, 100), () => response.destroy());
      }),
    );
    const [, , problem] = (await failureOf(machine)).evidence;
    expect(problem).toMatch(/^release archive: http.*tgz: /);
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('that is no archive, or holds another version, is not used', async () => {
    const other = await archiveOf(fakeCoredns('1.0.0'));
    const wrongVersion = await machineWith(releases(other.sha256, (response) => response.end(other.archive)));
    expect((await failureOf(wrongVersion)).evidence[2]).toContain(
      `the program obtained is CoreDNS 1.0.0, not ${VERSION}`,
    );
    const sha256OfX = '2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
    const noArchive = await machineWith(releases(sha256OfX, (response) => response.end('x')));
    expect((await failureOf(noArchive)).evidence[2]).toContain('cannot be unpacked');
  });

  test('from a server that cannot be reached is given up at once', async () => {
    const machine = await machineWith();
    const [, , problem] = (await failureOf(machine)).evidence;
    expect(problem).toMatch(/ECONNREFUSED|bad port/);
  });

  test('from a server that does not answer is given up after seconds', async () => {
    const machine = await machineWith(() => undefined);
    const began = machine.world.clock.monotonicSeconds();
    const [, , problem] = (await failureOf(machine)).evidence;
    expect(problem).toContain('no answer within 2 s');
    expect(machine.world.clock.monotonicSeconds() - began).toBeLessThan(30);
  });

  test('is given up when the run is interrupted, and nothing is left', async () => {
    const machine = await machineWith(() => machine.abort.abort(new Error('Ctrl-C')));
    await expect(createProvisioner(machine.world)(corednsProgram, machine.options)).rejects.toThrow('Ctrl-C');
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('is not even tried under --no-provision', async () => {
    let requests = 0;
    const machine = await machineWith((_, response) => {
      requests += 1;
      response.end();
    });
    const provide = createProvisioner(machine.world);
    await expect(provide(corednsProgram, { ...machine.options, allowed: false })).rejects.toMatchObject({
      code: 'E_TOOL_MISSING',
      fix: expect.stringContaining('omit --no-provision'),
    });
    expect(requests).toBe(0);
  });

  test('several runs at once all get a whole one', async () => {
    const { archive, sha256 } = await archiveOf(fakeCoredns(VERSION));
    const machine = await machineWith(releases(sha256, (response) => response.end(archive)));
    const tools = await Promise.all(
      Array.from({ length: 6 }, () => createProvisioner(machine.world)(corednsProgram, machine.options)),
    );
    expect(new Set(tools.map(({ executable }) => executable)).size).toBe(1);
    expect(await readFile(tools[0]?.executable ?? '', 'utf8')).toBe(fakeCoredns(VERSION));
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('has an address for each supported architecture', async () => {
    const { world } = await machineWith();
    const on = (architecture: string) =>
      corednsArchiveUrl({ ...world, env: {}, machine: { ...world.machine, architecture } }, '1.15.0');
    expect(on('x64')).toMatch(/\/v1\.15\.0\/coredns_1\.15\.0_linux_amd64\.tgz$/);
    expect(on('arm64')).toMatch(/_linux_arm64\.tgz$/);
    expect(on('riscv64')).toBeNull();
  });
});

describe('CoreDNS that is here already', () => {
  test('is used from PATH if it is exactly the version asked for', async () => {
    const machine = await machineWith();
    await machine.script('coredns', fakeCoredns(VERSION));
    expect(await createProvisioner(machine.world)(corednsProgram, machine.options)).toMatchObject({
      source: 'path',
      executable: join(machine.bin, 'coredns'),
      version: VERSION,
    });
  });

  test('is not used from PATH in another version', async () => {
    const machine = await machineWith();
    await machine.script('coredns', fakeCoredns('1.0.0'));
    expect((await failureOf(machine)).evidence[1]).toBe(
      `PATH: ${join(machine.bin, 'coredns')} is version 1.0.0, not ${VERSION}`,
    );
  });

  test('is got again if what is in the cache does not run', async () => {
    const { archive, sha256 } = await archiveOf(fakeCoredns(VERSION));
    const machine = await machineWith(releases(sha256, (response) => response.end(archive)));
    const provide = createProvisioner(machine.world);
    const { executable } = await provide(corednsProgram, machine.options);
    await writeFile(executable, 'half a file');
    expect((await provide(corednsProgram, machine.options)).source).toBe('release-archive');
  });
});

test.each([
  ['ENETUNREACH', 'no route'],
  ['ENOTFOUND', 'host not found'],
  ['EPROTO', 'what it said'],
])('a download that fails with %s says so in few words: %s', (code, reason) => {
  const cause = Object.assign(new Error('what it said'), { code });
  const error = new DownloadError('http://there', new TypeError('fetch failed', { cause }));
  expect(error).toMatchObject({ reason, message: `http://there: ${reason}` });
});

describe('CoreDNS built with Go', () => {
  const GO_VERSION = `if [ "$1 $2" = "version -m" ]; then
  printf '%s: go1.26.8\\n\\tmod\\tgithub.com/coredns/coredns\\tv%s\\th1:abc=\\n' "$3" ${VERSION}; exit
fi
if [ "$1" = version ]; then echo go version go1.26.8 linux/amd64; exit; fi`;

  test('is cached, with progress on the way', async () => {
    const machine = await machineWith((_, response) => response.writeHead(404).end());
    await writeFile(join(machine.home, 'built'), fakeCoredns(VERSION), { mode: 0o755 });
    await machine.script(
      'go',
      `${GO_VERSION}
echo "go: downloading github.com/miekg/dns v1.1.0" >&2
echo "github.com/miekg/dns" >&2
echo "$@ $CGO_ENABLED" > ${machine.home}/called
/bin/sleep 1.2
/bin/cp ${machine.home}/built "$GOBIN/coredns"`,
    );
    const tool = await createProvisioner(machine.world)(corednsProgram, machine.options);
    expect(tool).toMatchObject({ source: 'go-install', version: VERSION });
    expect(tool.origin).toBe(
      `go install github.com/coredns/coredns@v${VERSION} with Go 1.26.8, CGO_ENABLED=0, module h1:abc=`,
    );
    expect(await readFile(join(machine.home, 'called'), 'utf8')).toBe(
      `install -v -gcflags=all=-dwarf=false -ldflags=-s -w github.com/coredns/coredns@v${VERSION} 0\n`,
    );
    expect(machine.told).toContain(
      `Download failed (HTTP status 404); building CoreDNS ${VERSION} with Go 1.26.8 instead, about 3 min: go install github.com/coredns/coredns@v${VERSION}`,
    );
    expect(machine.told).toContainEqual(expect.stringMatching(new RegExp(`^Kept CoreDNS ${VERSION} .* as `)));
    expect(machine.told).toContainEqual(expect.stringMatching(/^1 modules downloaded, 1 packages compiled$/));
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('that uses names which the linker hides is linked again with them shown', async () => {
    const machine = await machineWith();
    await writeFile(join(machine.home, 'built'), fakeCoredns(VERSION), { mode: 0o755 });
    await machine.script(
      'go',
      `${GO_VERSION}
case "$*" in
  *"-ldflags=-s -w -checklinkname=0"*) /bin/cp ${machine.home}/built "$GOBIN/coredns" ;;
  *) echo "link: golang.org/x/net/internal/socket: invalid reference to syscall.recvmsg" >&2; exit 1 ;;
esac`,
    );
    const tool = await createProvisioner(machine.world)(corednsProgram, machine.options);
    expect(tool).toMatchObject({ source: 'go-install', version: VERSION });
  });

  test('that does not build is reported with the words of Go', async () => {
    const machine = await machineWith();
    await machine.script('go', `${GO_VERSION}\necho "go: module lookup disabled by GOPROXY=off" >&2; exit 1`);
    const error = await failureOf(machine);
    expect(error.evidence[3]).toBe(
      `go install: go install github.com/coredns/coredns@v${VERSION} failed: go: module lookup disabled by GOPROXY=off`,
    );
    expect(error.fix).toMatch(
      new RegExp(`, or see to it that \`go install github\\.com/coredns/coredns@v${VERSION}\` works\\.$`),
    );
  });

  test('is killed when the run is interrupted, and nothing is left', async () => {
    const machine = await machineWith();
    await machine.script('go', `${GO_VERSION}\necho $$ > ${machine.home}/pid; /bin/sleep 100`);
    const building = createProvisioner(machine.world)(corednsProgram, machine.options);
    const rejected = expect(building).rejects.toThrow('Ctrl-C');
    await expect.poll(() => readFile(join(machine.home, 'pid'), 'utf8').catch(() => '')).not.toBe('');
    const pid = Number(await readFile(join(machine.home, 'pid'), 'utf8'));
    machine.abort.abort(new Error('Ctrl-C'));
    await rejected;
    expect(machine.world.processes.signal(pid, 'SIGTERM')).toBe(false);
    expect(await stagingLeft(machine)).toEqual([]);
  });

  test('counts what `go install -v` prints', () => {
    const lines = [
      'go: downloading a.example/b v1.0.0',
      'internal/cpu',
      'golang.org/x/net/http2',
      '# a warning',
      '',
    ];
    expect(lines.reduce(countBuildLine, { modules: 0, packages: 0 })).toEqual({ modules: 1, packages: 2 });
  });
});

describe('the cache', () => {
  test('is where the XDG specification says', async () => {
    const { world } = await machineWith();
    const at = (env: Record<string, string>) => cacheRoot({ ...world, env });
    expect(at({ XDG_CACHE_HOME: '/x', HOME: '/home/a' })).toBe('/x/dinodns-bench');
    expect(at({ XDG_CACHE_HOME: 'relative', HOME: '/home/a' })).toBe('/home/a/.cache/dinodns-bench');
    expect(at({ HOME: '/home/a' })).toBe('/home/a/.cache/dinodns-bench');
  });

  test('that is full or may not be written is an error of its own, with the way out', async () => {
    const machine = await machineWith();
    await machine.script('go', 'exit 1');
    for (const [code, expected] of [
      ['ENOSPC', 'E_DISK_FULL'],
      ['EACCES', 'E_PROVISION_FAILED'],
    ] as const) {
      const world = {
        ...machine.world,
        fs: {
          ...machine.world.fs,
          mkdtemp: (() => Promise.reject(systemError(code))) as typeof machine.world.fs.mkdtemp,
        },
      };
      await expect(createProvisioner(world)(corednsProgram, machine.options)).rejects.toMatchObject({
        code: expected,
        fix: expect.stringContaining('XDG_CACHE_HOME'),
      });
    }
  });
});

/** A machine for provisioning tests: an empty home, a PATH of its own, and a release server on loopback. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable } from '../src/machine/find-executable.ts';
import type { ProvisionOptions } from '../src/provision/provision.ts';
import { realWorld, type World } from '../src/world.ts';

export const VERSION = '9.8.7';

export interface Machine {
  readonly world: World;
  readonly home: string;
  /** The only directory in PATH. */
  readonly bin: string;
  readonly told: string[];
  readonly abort: AbortController;
  readonly options: ProvisionOptions;
  /** Puts a shell script into PATH. */
  script(name: string, body: string): Promise<void>;
  remove(): Promise<void>;
}

/** A script that says it is CoreDNS of this version; long enough that half of it would not run. */
export function fakeCoredns(version: string): string {
  return `#!/bin/sh\n${'# padding\n'.repeat(20_000)}echo CoreDNS-${version}\necho linux/amd64, go1.26.8,\n`;
}

export async function emptyMachine(env: Readonly<Record<string, string>> = {}): Promise<Machine> {
  const real = realWorld();
  const home = await mkdtemp(join(tmpdir(), 'provision-test-'));
  const bin = join(home, 'bin');
  await mkdir(bin);
  const shell = await findExecutable(real, 'sh');
  if (shell !== null) await symlink(shell, join(bin, 'sh'));
  const told: string[] = [];
  const abort = new AbortController();
  return {
    world: {
      ...real,
      env: { PATH: bin, HOME: home, XDG_CACHE_HOME: join(home, 'cache'), ...env },
      machine: { ...real.machine, architecture: 'x64' },
    },
    home,
    bin,
    told,
    abort,
    options: {
      allowed: true,
      version: VERSION,
      progress: { step: (text) => told.push(text), detail: (text) => told.push(text) },
      signal: abort.signal,
    },
    script: async (name, body) => {
      await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
      await chmod(join(bin, name), 0o755);
    },
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

/** A gzipped tar archive that holds `coredns` with this content, and its checksum. */
export async function archiveOf(content: string): Promise<{ archive: Buffer; sha256: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'provision-archive-'));
  try {
    await writeFile(join(directory, 'coredns'), content, { mode: 0o755 });
    execFileSync('tar', ['-czf', 'a.tgz', 'coredns'], { cwd: directory });
    const archive = await readFile(join(directory, 'a.tgz'));
    return { archive, sha256: createHash('sha256').update(archive).digest('hex') };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** An HTTP server on loopback; the URL has no trailing slash. */
export async function httpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

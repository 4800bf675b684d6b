/** CoreDNS built from source by the Go tool, from whatever module proxy the user has configured. */
import { join } from 'node:path';
import { findExecutable } from '../../machine/find-executable.ts';
import { type RunningProcess, runToEnd } from '../../process.ts';
import { withStaging } from '../../provision/cache.ts';
import type { Attempt, VersionedOptions } from '../../provision/provision.ts';
import { askVersion, GO_VERSION } from '../../provision/tool-version.ts';
import type { World } from '../../world.ts';
import { keepCoredns } from './cache.ts';

/** A first build on two slow cores takes about ten minutes. */
const BUILD_SECONDS = 20 * 60;

export const COREDNS_MODULE = 'github.com/coredns/coredns';

export function corednsGoTarget(version: string): string {
  return `${COREDNS_MODULE}@v${version}`;
}

/** Without symbols and debugging information, as the official releases are linked: 75 instead of 107 MiB, and linked faster. */
const LINKED_AS_RELEASED = '-s -w';

/** Nor is debugging information made that is not linked: compiling takes 7 % less CPU time (198 and 183 s), for a program of the same size. */
const NOTHING_FOR_DEBUGGERS = '-gcflags=all=-dwarf=false';

/**
 * CoreDNS before 1.10 uses names inside Go's standard library that linkers since Go 1.23 hide from other packages. This flag shows
 * them again; older linkers do not know it, therefore it is only used after the linker has complained.
 */
const SHOW_HIDDEN_NAMES = '-checklinkname=0';
const HIDDEN_NAME = /invalid reference to /;

/** What `go install -v` does: it prints a line for each module it downloads and each package it compiles. */
export interface BuildProgress {
  readonly modules: number;
  readonly packages: number;
}

/** The counts after one more line of `go install -v`. */
export function countBuildLine(progress: BuildProgress, line: string): BuildProgress {
  if (/^go: downloading /.test(line)) return { ...progress, modules: progress.modules + 1 };
  // A package's import path stands alone on its line.
  if (/^[\w.-]+(\/[\w.~-]+)*$/.test(line)) return { ...progress, packages: progress.packages + 1 };
  return progress;
}

async function waitFor(
  world: World,
  build: RunningProcess,
  signal: AbortSignal,
  onSecond: () => void,
): Promise<string | null> {
  const stop = new AbortController();
  const ended = build.exited.then(() => stop.abort());
  const until = world.clock.monotonicSeconds() + BUILD_SECONDS;
  const either = AbortSignal.any([stop.signal, signal]);
  while (!either.aborted && world.clock.monotonicSeconds() < until) {
    onSecond();
    await world.clock.sleep(1, either).catch(() => undefined);
  }
  build.kill('SIGKILL');
  await ended;
  signal.throwIfAborted();
  if (build.exit?.code === 0) return null;
  if (world.clock.monotonicSeconds() >= until) return `not finished within ${BUILD_SECONDS / 60} minutes`;
  const said = build.lastLines.filter((line) => line.trim() !== '').slice(-3);
  return said.join(' | ') || `exit status ${build.exit?.code}`;
}

/** The checksum of the main module as go.sum writes it (`h1:…`), which the Go tool builds into programs. */
async function moduleChecksum(world: World, go: string, executable: string): Promise<string | null> {
  const { stdout } = await runToEnd(world, [go, 'version', '-m', executable]);
  return /^\s+mod\s+\S+\s+\S+\s+(h1:\S+)$/m.exec(stdout)?.[1] ?? null;
}

async function buildInto(
  world: World,
  go: string,
  staging: string,
  { version, progress, signal }: VersionedOptions,
  failed: string | null,
): Promise<Attempt> {
  const target = corednsGoTarget(version);
  const goVersion = (await askVersion(world, GO_VERSION, go)) ?? 'unknown';
  const what = `CoreDNS ${version} with Go ${goVersion}`;
  const begin =
    failed === null ? `Building ${what}` : `Download failed (${failed}); building ${what} instead`;
  progress.step(`${begin}, about 3 min: go install ${target}`);
  let done: BuildProgress = { modules: 0, packages: 0 };
  const onLine = (line: string) => {
    done = countBuildLine(done, line);
  };
  // All plugins, although the default comparison needs few and would be built a minute sooner: such a program takes a third of the
  // memory (16 MB and 50 MB at start, CoreDNS 1.15.0), and memory is one of the figures.
  const install = async (linking: string): Promise<string | null> => {
    const flags = [NOTHING_FOR_DEBUGGERS, `-ldflags=${linking}`];
    const build = await world.processes.start([go, 'install', '-v', ...flags, target], {
      // Outside every module and workspace, because Go would use its go.mod.
      cwd: staging,
      // Go's temporary files are in the same directory, so that an aborted build removes them too.
      env: { CGO_ENABLED: '0', GOBIN: staging, GOTMPDIR: staging, GOWORK: 'off' },
      onStdoutLine: onLine,
      onStderrLine: onLine,
    });
    return waitFor(world, build, signal, () => {
      progress.detail(`${done.modules} modules downloaded, ${done.packages} packages compiled`);
    });
  };
  let problem = await install(LINKED_AS_RELEASED);
  if (problem !== null && HIDDEN_NAME.test(problem))
    problem = await install(`${LINKED_AS_RELEASED} ${SHOW_HIDDEN_NAMES}`);
  if (problem !== null) return { problem: `go install ${target} failed: ${problem}` };
  const checksum = await moduleChecksum(world, go, join(staging, 'coredns'));
  return keepCoredns(world, join(staging, 'coredns'), version, {
    source: 'go-install',
    origin: `go install ${target} with Go ${goVersion}, CGO_ENABLED=0${checksum === null ? '' : `, module ${checksum}`}`,
  });
}

/**
 * Builds and caches it. Rejects only if the cache cannot be written, or when aborted.
 * @param failed why it could not be downloaded, for people; null where nobody tried
 */
export async function corednsFromGo(
  world: World,
  options: VersionedOptions,
  failed: string | null,
): Promise<Attempt> {
  const go = await findExecutable(world, 'go');
  if (go === null) return { problem: 'Go is not installed' };
  return withStaging(world, (staging) => buildInto(world, go, staging, options, failed));
}

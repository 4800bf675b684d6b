/** CoreDNS: from the cache, PATH if it is exactly that version, its release archive, or `go install`. */
import { DEFAULTS } from '../../config/settings.ts';
import { findExecutable } from '../../machine/find-executable.ts';
import { firstThatWorks, type Way } from '../../provision/attempt.ts';
import { toolFromPath } from '../../provision/path-tools.ts';
import {
  inspectionOf,
  type Program,
  type ProgramInspection,
  type ProvisionOptions,
  type WantedVersion,
} from '../../provision/provision.ts';
import { demandKnownVersion } from '../../provision/versions.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';
import { COREDNS_VERSION, corednsDirectory, corednsFromCache } from './cache.ts';
import { corednsFromGo, corednsGoTarget } from './go-install.ts';
import { corednsArchiveUrl, corednsFromRelease } from './release.ts';
import { corednsVersion } from './versions.ts';

const INSTALLED = { name: 'coredns', question: COREDNS_VERSION } as const;

const sizeOf = ({ sizeBytes }: ProvisionedTool) => `${Math.round((sizeBytes ?? 0) / 2 ** 20)} MiB`;

async function provide(world: World, asked: ProvisionOptions): Promise<ProvisionedTool> {
  const version = asked.version ?? DEFAULTS.corednsVersion;
  const options = { ...asked, version };
  const found: Way[] = [
    { name: 'cache', attempt: () => corednsFromCache(world, version) },
    { name: 'PATH', attempt: () => toolFromPath(world, INSTALLED, version) },
  ];
  let failed: string | null = null;
  const download = async () => {
    const attempt = await corednsFromRelease(world, options);
    if ('problem' in attempt) failed = attempt.reason ?? null;
    return attempt;
  };
  const got: Way[] = [
    { name: 'release archive', attempt: download },
    { name: 'go install', attempt: () => corednsFromGo(world, options, failed) },
  ];
  const what = `CoreDNS ${version}`;
  const place = `Put the executable of ${what} at ${corednsDirectory(world, version)}/coredns`;
  if (!options.allowed)
    return firstThatWorks(what, found, `${place}. Or omit --no-provision, and bench gets it.`);
  const tool = await firstThatWorks(what, [...found, ...got], `${place}, or install Go and run bench again.`);
  const isNew = tool.source === 'release-archive' || tool.source === 'go-install';
  if (isNew) options.progress.step(`Kept ${what} (${sizeOf(tool)}) as ${tool.executable}`);
  return tool;
}

/** How it would be installed, in words; null if it cannot be. */
async function waysToGet(world: World, version: string): Promise<string | null> {
  const ways: string[] = [];
  const url = corednsArchiveUrl(world, version);
  if (url !== null) ways.push(`downloaded from ${url}`);
  const go = await findExecutable(world, 'go');
  if (go !== null) ways.push(`built with ${go} install ${corednsGoTarget(version)}`);
  return ways.length === 0 ? null : ways.join(', otherwise ');
}

async function inspect(world: World, version: string): Promise<ProgramInspection> {
  const cached = await corednsFromCache(world, version);
  if ('found' in cached) return inspectionOf(cached);
  const installed = inspectionOf(await toolFromPath(world, INSTALLED, version));
  if (installed.found !== null) return installed;
  const how = await waysToGet(world, version);
  const fix = how === null ? 'Install Go, or put CoreDNS into the cache; see the README.' : null;
  return {
    ...installed,
    problem: `${cached.problem}; in PATH: ${installed.problem}`,
    installMethod: how,
    fix,
  };
}

async function demandVersion(world: World, { version }: WantedVersion, signal: AbortSignal): Promise<void> {
  const wanted = version ?? DEFAULTS.corednsVersion;
  const here = [await corednsFromCache(world, wanted), await toolFromPath(world, INSTALLED, wanted)];
  if (here.some((attempt) => 'found' in attempt)) return;
  demandKnownVersion('CoreDNS', wanted, await corednsVersion(world, wanted, signal));
}

export const corednsProgram: Program = {
  name: 'coredns',
  optional: false,
  provide,
  demandVersion,
  inspect: (world, { version }) => inspect(world, version ?? DEFAULTS.corednsVersion),
};

/** CoreDNS: from the cache, PATH if it is exactly that version, its release archive, or `go install`. */
import { DEFAULTS } from '../../config/settings.ts';
import { BenchError } from '../../errors.ts';
import { findExecutable } from '../../machine/find-executable.ts';
import { toolFromPath } from '../../provision/path-tools.ts';
import {
  firstThatWorks,
  inspectionOf,
  type Program,
  type ProgramInspection,
  type ProvisionOptions,
  type WantedVersion,
  type Way,
} from '../../provision/provision.ts';
import { demandKnownVersion, otherVersions } from '../../provision/versions.ts';
import type { ProvisionedTool } from '../../results/record.ts';
import type { World } from '../../world.ts';
import { COREDNS_VERSION, corednsDirectory, corednsFromCache } from './cache.ts';
import { corednsFromGo, corednsGoTarget } from './go-install.ts';
import { corednsArchiveUrl, corednsFromRelease } from './release.ts';
import { corednsVersion } from './versions.ts';

const INSTALLED = { name: 'coredns', question: COREDNS_VERSION } as const;

const sizeOf = ({ sizeBytes }: ProvisionedTool) => `${Math.round((sizeBytes ?? 0) / 2 ** 20)} MiB`;

const placeOf = (world: World, version: string) =>
  `the executable of CoreDNS ${version} at ${corednsDirectory(world, version)}/coredns`;

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
  const place = `Put ${placeOf(world, version)}`;
  if (!options.allowed)
    return firstThatWorks(what, found, `${place}. Or omit --no-provision, and bench gets it.`);
  const go = await findExecutable(world, 'go');
  const otherwise =
    go === null
      ? 'install Go and run bench again'
      : `see to it that \`go install ${corednsGoTarget(version)}\` works`;
  const tool = await firstThatWorks(what, [...found, ...got], `${place}, or ${otherwise}.`);
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
  const answer = await corednsVersion(world, wanted, signal);
  demandKnownVersion('CoreDNS', wanted, answer);
  if (answer.refusal === null) return;
  throw new BenchError('E_TOOL_MISSING', `CoreDNS ${wanted} can be neither downloaded nor built`, {
    evidence: [
      `release archive: ${corednsArchiveUrl(world, wanted)} cannot be had`,
      `go install: ${answer.refusal}`,
    ],
    fix: `${otherVersions(wanted, answer.others)} Or put ${placeOf(world, wanted)}.`,
  });
}

export const corednsProgram: Program = {
  name: 'coredns',
  optional: false,
  provide,
  demandVersion,
  inspect: (world, { version }) => inspect(world, version ?? DEFAULTS.corednsVersion),
};

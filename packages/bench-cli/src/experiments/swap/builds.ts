/** How a CoreDNS was built, by what its `-version` prints, and what differs between both sides of a swap. Pure. */
import { SIDES, type SwapBuild, type SwapRecord } from './record.ts';

/** Go's experiments with which a program keeps to FIPS 140: of Red Hat's Go, of upstream's until 1.23, of Microsoft's. */
const FIPS_EXPERIMENT = /^(?:strictfipsruntime|boringcrypto|opensslcrypto|systemcrypto)$/;

export interface PrintedVersion {
  /** `1.13.1` */
  readonly version: string;
  /** Null where the program does not say. */
  readonly build: SwapBuild | null;
}

/** `go1.23.9 (Red Hat 1.23.9-1.el9_6) X:strictfipsruntime`, as `runtime.Version()` of Go has it. */
function toolchainOf(text: string): Pick<SwapBuild, 'goVersion' | 'vendor' | 'fips'> {
  const experiments = /(?:^|\s)X:(\S+)/.exec(text)?.[1]?.split(',') ?? [];
  return {
    goVersion: /(?:^|\s)go(\d[^\s,]*)/.exec(text)?.[1] ?? text,
    vendor: /\(([^)]+)\)/.exec(text)?.[1] ?? null,
    fips: experiments.find((name) => FIPS_EXPERIMENT.test(name)) ?? null,
  };
}

/** `CoreDNS-1.13.1\nlinux/amd64, go1.25.2, 1db4568`; null for another program. */
export function versionPrinted(text: string): PrintedVersion | null {
  const version = /^CoreDNS-(\d\S*)/m.exec(text)?.[1];
  if (version === undefined) return null;
  const [, platform, toolchain = '', revision = ''] = /^(\w+\/\w+), (.+), *(\S*)\s*$/m.exec(text) ?? [];
  const build =
    platform === undefined
      ? null
      : { platform, ...toolchainOf(toolchain), revision: revision === '' ? null : revision };
  return { version, build };
}

/** Different builds only: nodes of two architectures have two. */
export function distinctBuilds(printed: Iterable<PrintedVersion>): SwapBuild[] {
  const known = [...printed].flatMap(({ build }) => build ?? []);
  return [...new Map(known.map((build) => [JSON.stringify(build), build])).values()];
}

/** `linux/amd64, Go 1.23.9 (Red Hat 1.23.9-1.el9_6), FIPS mode strictfipsruntime, revision 1db4568` */
export function buildText({ platform, goVersion, vendor, fips, revision }: SwapBuild): string {
  return [
    platform,
    `Go ${goVersion}${vendor === null ? '' : ` (${vendor})`}`,
    ...(fips === null ? [] : [`FIPS mode ${fips}`]),
    ...(revision === null ? [] : [`revision ${revision}`]),
  ].join(', ');
}

/** Go versions of one side: `1.23.9`; empty where unknown. */
export function goOf(builds: readonly SwapBuild[]): string {
  return [...new Set(builds.map(({ goVersion }) => goVersion))].join(' and ');
}

const COMPARED: readonly (readonly [name: string, of: (build: SwapBuild) => string | null])[] = [
  ['Go', ({ goVersion }) => goVersion],
  ['the platform', ({ platform }) => platform],
  ["Go's vendor", ({ vendor }) => vendor],
  ['the FIPS mode', ({ fips }) => fips],
];

/** What else than CoreDNS differs between both sides, one sentence each; empty where a side's build is unknown. */
export function buildDifferences({ versions }: Pick<SwapRecord, 'versions'>): string[] {
  if (SIDES.some((side) => versions[side].builds.length === 0)) return [];
  return COMPARED.flatMap(([name, of]) => {
    const [a, b] = SIDES.map((side) =>
      [...new Set(versions[side].builds.map((build) => of(build) ?? 'none'))].toSorted().join(' and '),
    );
    return a === b
      ? []
      : [
          `CoreDNS is not all that changed: ${name} differs, ${a} in ${versions.A.version} and ${b} in ${versions.B.version}.`,
        ];
  });
}

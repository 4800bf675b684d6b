/** How a CoreDNS was built, by what its `-version` prints, and what differs between both sides of a swap. Pure. */
import type { ServerRecord } from '../../results/record.ts';

/** Go's experiments with which a program keeps to FIPS 140: of Red Hat's Go, of upstream's until 1.23, of Microsoft's. */
const FIPS_EXPERIMENT = /^(?:strictfipsruntime|boringcrypto|opensslcrypto|systemcrypto)$/;

/** As the program says itself, by name: `platform`, `Go`, `vendor of Go`, `FIPS mode`, `revision`; without what it does not say. */
type Build = Readonly<Record<string, string>>;

export interface PrintedVersion {
  /** `1.13.1` */
  readonly version: string;
  /** Empty where the program does not say. */
  readonly build: Build;
}

/** `go1.23.9 (Red Hat 1.23.9-1.el9_6) X:strictfipsruntime`, as `runtime.Version()` of Go has it. */
function toolchainOf(text: string): readonly (readonly [name: string, value: string | undefined])[] {
  const experiments = /(?:^|\s)X:(\S+)/.exec(text)?.[1]?.split(',') ?? [];
  return [
    ['Go', /(?:^|\s)go(\d[^\s,]*)/.exec(text)?.[1] ?? text],
    ['vendor of Go', /\(([^)]+)\)/.exec(text)?.[1]],
    ['FIPS mode', experiments.find((name) => FIPS_EXPERIMENT.test(name))],
  ];
}

/** `CoreDNS-1.13.1\nlinux/amd64, go1.25.2, 1db4568`; null for another program. */
export function versionPrinted(text: string): PrintedVersion | null {
  const version = /^CoreDNS-(\d\S*)/m.exec(text)?.[1];
  if (version === undefined) return null;
  const [, platform, toolchain = '', revision] = /^(\w+\/\w+), (.+), *(\S*)\s*$/m.exec(text) ?? [];
  if (platform === undefined) return { version, build: {} };
  const said = [['platform', platform] as const, ...toolchainOf(toolchain), ['revision', revision] as const];
  return {
    version,
    build: Object.fromEntries(said.flatMap(([name, value]) => (value ? [[name, value]] : []))),
  };
}

const distinct = (values: readonly string[]) => [...new Set(values)].toSorted().join(' and ');

/** What ran on one side, for the record; nodes of two architectures have two builds. */
export function programOf(name: string, image: string, printed: readonly PrintedVersion[]): ServerRecord {
  const version = distinct(printed.map((each) => each.version));
  const parts = new Set(printed.flatMap(({ build }) => Object.keys(build)));
  const components = [...parts].map((part) => [
    part,
    distinct(printed.flatMap(({ build }) => build[part] ?? [])),
  ]);
  return {
    ...{ name, kind: 'coredns', variant: null, title: `CoreDNS ${version}`, version, executable: image },
    components: Object.fromEntries(components),
    files: {},
  };
}

/** `linux/amd64, Go 1.23.9, vendor of Go Red Hat 1.23.9-1.el9_6, revision 1db4568`; empty where unknown. */
export function buildText({ components }: Pick<ServerRecord, 'components'>): string {
  return Object.entries(components)
    .map(([name, value]) => (name === 'platform' ? value : `${name} ${value}`))
    .join(', ');
}

/** Another revision is another CoreDNS, which is the question. */
const COMPARED = ['Go', 'platform', 'vendor of Go', 'FIPS mode'];

/** Differences between both sides other than CoreDNS, one sentence each; empty where a side's build is unknown. */
export function buildDifferences([a, b]: readonly ServerRecord[]): string[] {
  if (a === undefined || b === undefined) return [];
  if ([a, b].some(({ components }) => Object.keys(components).length === 0)) return [];
  return COMPARED.flatMap((name) => {
    const [ofA, ofB] = [a, b].map(({ components }) => components[name] ?? 'none');
    return ofA === ofB
      ? []
      : [
          `CoreDNS is not all that changed: ${name} differs, ${ofA} in ${a.version} and ${ofB} in ${b.version}.`,
        ];
  });
}

/** The order in which packages are published, and the checks before the first of them. */

export interface ReleasePackage {
  readonly directory: string;
  readonly manifest: {
    readonly name: string;
    readonly version: string;
    readonly dependencies?: Readonly<Record<string, string>>;
  };
}

const namesIn = (packages: readonly ReleasePackage[]) =>
  new Set(packages.map(({ manifest }) => manifest.name));

/** Dependencies first. Throws an Error for circular dependencies. */
export function inOrder(packages: readonly ReleasePackage[]): ReleasePackage[] {
  const ordered: ReleasePackage[] = [];
  const waiting = new Set(packages);
  while (waiting.size > 0) {
    const names = namesIn([...waiting]);
    const ready = [...waiting].filter(({ manifest }) =>
      Object.keys(manifest.dependencies ?? {}).every((name) => !names.has(name)),
    );
    if (ready.length === 0) throw new Error(`these packages depend on each other: ${[...names].join(', ')}`);
    for (const item of ready) {
      ordered.push(item);
      waiting.delete(item);
    }
  }
  return ordered;
}

function versionProblems(packages: readonly ReleasePackage[]): string[] {
  const versions = new Set(packages.map(({ manifest }) => manifest.version));
  if (versions.size > 1) return [`the packages have different versions: ${[...versions].join(', ')}`];
  const [version = ''] = versions;
  const ours = namesIn(packages);
  return packages.flatMap(({ manifest }) =>
    Object.entries(manifest.dependencies ?? {})
      .filter(([name, wanted]) => ours.has(name) && wanted !== version)
      .map(([name, wanted]) => `${manifest.name} depends on ${name} ${wanted}, not ${version}`),
  );
}

/**
 * One sentence for each reason not to release. All packages must have the same version and depend on that version of
 * each other; `changelog`, unless it is null, must have a section for it.
 */
export function releaseProblems(packages: readonly ReleasePackage[], changelog: string | null): string[] {
  const version = packages[0]?.manifest.version ?? '';
  const isDescribed = changelog === null || changelog.includes(`\n## [${version}]`);
  return [...versionProblems(packages), ...(isDescribed ? [] : [`CHANGELOG.md has no section [${version}]`])];
}

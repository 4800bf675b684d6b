/**
 * Releases all packages of one version, in the order of their dependencies:
 *
 *     node scripts/release.ts --dry-run     checks everything, builds and packs every package, publishes nothing
 *     node scripts/release.ts               publishes with provenance; for the release workflow
 *
 * A package whose version is already in the registry is skipped, so that an interrupted release can be repeated.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { inOrder, type ReleasePackage, releaseProblems } from './release-order.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function readPackages(): ReleasePackage[] {
  return globSync('packages/*/package.json', { cwd: ROOT })
    .map((file) => ({
      directory: join(ROOT, dirname(file)),
      manifest: JSON.parse(readFileSync(join(ROOT, file), 'utf8')),
    }))
    .filter(({ manifest }) => manifest.private !== true);
}

function isPublished({ manifest }: ReleasePackage): boolean {
  const { status } = spawnSync('npm', ['view', `${manifest.name}@${manifest.version}`, 'version'], {
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  });
  return status === 0;
}

function publish({ directory }: ReleasePackage, isDryRun: boolean): void {
  // Only the release workflow can attest provenance.
  const flags = isDryRun ? ['--dry-run'] : ['--provenance'];
  execFileSync('npm', ['publish', '--access', 'public', ...flags], { cwd: directory, stdio: 'inherit' });
}

const { values } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } });
const isDryRun = values['dry-run'];
const packages = readPackages();
const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
const problems = releaseProblems(packages, isDryRun ? null : changelog);
for (const problem of problems) console.error(`Error: not released: ${problem}`);
if (problems.length > 0) process.exit(1);
for (const item of inOrder(packages)) {
  const name = `${item.manifest.name}@${item.manifest.version}`;
  if (!isDryRun && isPublished(item)) {
    console.error(`${name} is already published`);
    continue;
  }
  console.error(`${isDryRun ? 'Would publish' : 'Publishing'} ${name}`);
  publish(item, isDryRun);
}

/** Another revision of this repository, ready to run: its sources, with the dependencies that are installed here. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface Checkout {
  readonly directory: string;
  remove(): void;
}

/** Links what each package depends on: workspace packages to those of that revision, all others to ours. */
function linkDependencies(directory: string): void {
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const name of readdirSync(join(directory, 'packages'))) {
    const links = join('packages', name, 'node_modules');
    if (!existsSync(join(root, links))) continue;
    cpSync(join(root, links), join(directory, links), { recursive: true, verbatimSymlinks: true });
  }
}

/** Checks out `revision` (anything that git understands) in a temporary directory. Throws what git says if it fails. */
export function checkOut(revision: string): Checkout {
  const directory = mkdtempSync(join(tmpdir(), 'revision-'));
  const remove = () => rmSync(directory, { recursive: true });
  try {
    const archive = execFileSync('git', ['-C', root, 'archive', revision, 'packages', 'package.json'], {
      maxBuffer: 2 ** 30,
    });
    execFileSync('tar', ['-x', '-C', directory], { input: archive });
    linkDependencies(directory);
  } catch (error) {
    remove();
    throw error;
  }
  return { directory, remove };
}

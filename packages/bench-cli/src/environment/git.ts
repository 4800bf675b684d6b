/** The state of this program's checkout. */
import { runToEnd } from '../process.ts';
import type { Environment } from '../results/record.ts';
import type { World } from '../world.ts';

async function git(world: World, ...command: readonly string[]): Promise<string | null> {
  const { code, stdout } = await runToEnd(world, ['git', '-C', import.meta.dirname, ...command]);
  return code === 0 ? stdout.trim() : null;
}

/**
 * The branch that is checked out. CI checks out a commit without a branch and gives its name in the environment:
 * GitHub (the branch of a pull request, or the ref), GitLab.
 */
async function branchOf(world: World): Promise<string | null> {
  const name = await git(world, 'symbolic-ref', '--short', '--quiet', 'HEAD');
  if (name !== null && name !== '') return name;
  const { GITHUB_HEAD_REF, GITHUB_REF_NAME, CI_COMMIT_REF_NAME } = world.env;
  return GITHUB_HEAD_REF || GITHUB_REF_NAME || CI_COMMIT_REF_NAME || null;
}

/** Commit of this program's own checkout, and whether tracked files differ from it; null outside of one. */
export async function describeCheckout(world: World): Promise<Environment['git']> {
  try {
    // Installed below somebody else's checkout, this file is not tracked there.
    const tracked = await git(world, 'ls-files', '--error-unmatch', import.meta.filename);
    const commit = tracked === null ? null : await git(world, 'rev-parse', 'HEAD');
    if (commit === null) return null;
    const changes = await git(world, 'status', '--porcelain', '--untracked-files=no');
    return { commit, branch: await branchOf(world), dirty: changes !== '' };
  } catch {
    // git is not installed.
    return null;
  }
}

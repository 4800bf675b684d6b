/** dnsperf: from PATH, or from the package manager where that needs no password. */
import { findPackageManager, installPackages } from '../../provision/package-manager.ts';
import { installHint, toolFromPath } from '../../provision/path-tools.ts';
import {
  type Attempt,
  firstThatWorks,
  inspectionOf,
  type Program,
  type ProvisionOptions,
  type Way,
} from '../../provision/provision.ts';
import { DNSPERF_VERSION } from '../../provision/tool-version.ts';
import type { World } from '../../world.ts';

const NAME = 'dnsperf';
const INSTALLED = { name: NAME, question: DNSPERF_VERSION } as const;

async function fromPackages(world: World, { progress, signal }: ProvisionOptions): Promise<Attempt> {
  const system = await findPackageManager(world);
  if ('problem' in system) return { problem: system.problem };
  const installed = await installPackages(world, system.manager, [NAME], progress, signal);
  if ('problem' in installed) return installed;
  const there = await toolFromPath(world, INSTALLED);
  if ('problem' in there) return { problem: `${installed.origin} worked, but in PATH ${there.problem}` };
  return { found: { ...there.found, source: 'package-manager', origin: installed.origin } };
}

export const dnsperfProgram: Program = {
  name: NAME,
  optional: false,
  async provide(world, options) {
    const path: Way = { name: 'PATH', attempt: () => toolFromPath(world, INSTALLED) };
    const packages: Way = { name: 'package manager', attempt: () => fromPackages(world, options) };
    const hint = await installHint(world, NAME, NAME);
    return firstThatWorks(
      NAME,
      options.allowed ? [path, packages] : [path],
      `${hint}${options.allowed ? '' : ' Or omit --no-provision, and bench gets it.'}`,
    );
  },
  async inspect(world) {
    const installed = inspectionOf(await toolFromPath(world, INSTALLED));
    if (installed.found !== null) return installed;
    const system = await findPackageManager(world);
    const how = 'manager' in system ? `installed with ${system.manager.installCommand(NAME)}` : null;
    return {
      ...installed,
      installMethod: how,
      fix: how === null ? await installHint(world, NAME, NAME) : null,
    };
  },
};

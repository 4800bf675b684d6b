/** Finds each tool or gets it, in the order that costs the user least. */
import type { ProvisionedTool } from '../results/record.ts';
import type { World } from '../world.ts';
import { firstThatWorks, type Way } from './attempt.ts';
import { corednsDirectory, corednsFromCache } from './cache.ts';
import { corednsFromRelease } from './coredns-release.ts';
import { dinodnsServer } from './dinodns-server.ts';
import { corednsFromGo } from './go-install.ts';
import { findPackageManager, installPackages } from './package-manager.ts';
import { toolFromPath } from './path-tools.ts';
import type { ProvideTool, ProvisionOptions } from './provision.ts';
import { echoInC, echoOnNode } from './udp-echo.ts';

const NOT_ALLOWED = 'Or leave out --no-provision, and bench gets it.';

const sizeOf = ({ sizeBytes }: ProvisionedTool) => `${Math.round((sizeBytes ?? 0) / 2 ** 20)} MiB`;

async function provideCoredns(world: World, options: ProvisionOptions): Promise<ProvisionedTool> {
  const version = options.corednsVersion;
  const found: Way[] = [
    { name: 'cache', attempt: () => corednsFromCache(world, version) },
    { name: 'PATH', attempt: () => toolFromPath(world, 'coredns', version) },
  ];
  const got: Way[] = [
    { name: 'release archive', attempt: () => corednsFromRelease(world, options) },
    { name: 'go install', attempt: () => corednsFromGo(world, options) },
  ];
  const place = `Put the executable of CoreDNS ${version} at ${corednsDirectory(world, version)}/coredns`;
  if (!options.allowed) return firstThatWorks(`CoreDNS ${version}`, found, `${place}. ${NOT_ALLOWED}`);
  const ways = [...found, ...got];
  const tool = await firstThatWorks(
    `CoreDNS ${version}`,
    ways,
    `${place}, or install Go and run bench again.`,
  );
  const isNew = tool.source === 'release-archive' || tool.source === 'go-install';
  if (isNew) options.progress.step(`Kept CoreDNS ${version} (${sizeOf(tool)}) as ${tool.executable}`);
  return tool;
}

async function dnsperfFromPackages(world: World, { progress, signal }: ProvisionOptions) {
  const system = await findPackageManager(world);
  if ('problem' in system) return { problem: system.problem };
  const installed = await installPackages(world, system.manager, ['dnsperf'], progress, signal);
  if ('problem' in installed) return installed;
  const there = await toolFromPath(world, 'dnsperf');
  if ('problem' in there) return there;
  return { found: { ...there.found, source: 'package-manager', origin: installed.origin } } as const;
}

async function provideDnsperf(world: World, options: ProvisionOptions): Promise<ProvisionedTool> {
  const path: Way = { name: 'PATH', attempt: () => toolFromPath(world, 'dnsperf') };
  const packages: Way = { name: 'package manager', attempt: () => dnsperfFromPackages(world, options) };
  return firstThatWorks(
    'dnsperf',
    options.allowed ? [path, packages] : [path],
    `${await installHint(world, 'dnsperf')}${options.allowed ? '' : ` ${NOT_ALLOWED}`}`,
  );
}

/** Debian, Fedora and Alpine agree on these names. */
const PACKAGE_OF = { dnsperf: 'dnsperf', knotd: 'knot', nsd: 'nsd' } as const;

/** The command by which a user installs the tool here, as an imperative sentence. */
export async function installHint(world: World, tool: keyof typeof PACKAGE_OF): Promise<string> {
  const name = PACKAGE_OF[tool];
  const system = await findPackageManager(world);
  if ('manager' in system) return `Install it: ${system.manager.installCommand(name)}`;
  if (system.installCommand !== null) return `Install it: ${system.installCommand.replace('dnsperf', name)}`;
  return `Install ${name} so that ${tool} is in PATH.`;
}

async function provideOptionalServer(world: World, tool: 'knotd' | 'nsd'): Promise<ProvisionedTool> {
  const way: Way = { name: 'PATH', attempt: () => toolFromPath(world, tool) };
  return firstThatWorks(
    tool,
    [way],
    `${await installHint(world, tool)}, or leave this server out of --servers.`,
  );
}

/**
 * Provides tools for this machine:
 * - `coredns`: cache, PATH if it is exactly that version, release archive, `go install`;
 * - `dnsperf`: PATH, then the package manager where that needs no password;
 * - `knotd` and `nsd`: PATH only, because they are compared only where they are installed;
 * - `dinodns-server`: this workspace. `executable` is a script for Node.js;
 * - `udp-echo`: this workspace's C program, compiled, else its script for Node.js.
 *
 * What is missing is got once: calls for the same tool at the same time share the work.
 */
export function createProvisioner(world: World): ProvideTool {
  const underWay = new Map<string, Promise<ProvisionedTool>>();
  const provide: ProvideTool = (tool, options) => {
    switch (tool) {
      case 'coredns':
        return provideCoredns(world, options);
      case 'dnsperf':
        return provideDnsperf(world, options);
      case 'knotd':
      case 'nsd':
        return provideOptionalServer(world, tool);
      case 'dinodns-server':
        return firstThatWorks(
          tool,
          [{ name: 'workspace', attempt: () => dinodnsServer(world) }],
          'Run `pnpm install` in the workspace.',
        );
      case 'udp-echo':
        return firstThatWorks(
          tool,
          [
            { name: 'C', attempt: () => echoInC(world) },
            { name: 'Node.js', attempt: () => echoOnNode(world) },
          ],
          'Check out the whole workspace: both programs are in it.',
        );
    }
  };
  return (tool, options) => {
    const key = `${tool} ${options.corednsVersion} ${options.allowed}`;
    const sharing = underWay.get(key) ?? provide(tool, options).finally(() => underWay.delete(key));
    underWay.set(key, sharing);
    return sharing;
  };
}

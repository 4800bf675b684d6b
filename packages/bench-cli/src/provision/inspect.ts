/** What `bench doctor` says of tools: what is here, and how the rest would be got. Changes nothing. */
import { findExecutable } from '../machine/find-executable.ts';
import type { ProvisionedTool } from '../results/record.ts';
import type { ToolName } from '../servers/server.ts';
import type { World } from '../world.ts';
import type { Attempt } from './attempt.ts';
import { corednsFromCache } from './cache.ts';
import { corednsArchiveUrl } from './coredns-release.ts';
import { dinodnsServer } from './dinodns-server.ts';
import { corednsGoTarget } from './go-install.ts';
import { findPackageManager } from './package-manager.ts';
import { toolFromPath } from './path-tools.ts';
import { installHint } from './provisioner.ts';
import { echoInC, echoOnNode } from './udp-echo.ts';

export interface ToolInspection {
  readonly tool: ToolName;
  /** Optional tools are used where they are installed, and never provisioned. */
  readonly optional: boolean;
  readonly found: ProvisionedTool | null;
  /** Why it is missing; null if it is not. */
  readonly problem: string | null;
  /** How bench would get it, in words; null if it is here or cannot be got. */
  readonly wouldBeGot: string | null;
  /** What the user would do, where bench cannot; null otherwise. */
  readonly fix: string | null;
}

async function corednsHow(world: World, version: string): Promise<string | null> {
  const ways: string[] = [];
  const url = corednsArchiveUrl(world, version);
  if (url !== null) ways.push(`downloaded from ${url}`);
  const go = await findExecutable(world, 'go');
  if (go !== null) ways.push(`built with ${go} install ${corednsGoTarget(version)}`);
  return ways.length === 0 ? null : ways.join(', else ');
}

async function dnsperfHow(world: World): Promise<string | null> {
  const system = await findPackageManager(world);
  return 'manager' in system ? `installed with ${system.manager.installCommand('dnsperf')}` : null;
}

function inspection(tool: ToolName, optional: boolean, attempt: Attempt): ToolInspection {
  return 'found' in attempt
    ? { tool, optional, found: attempt.found, problem: null, wouldBeGot: null, fix: null }
    : { tool, optional, found: null, problem: attempt.problem, wouldBeGot: null, fix: null };
}

async function inspectCoredns(world: World, version: string): Promise<ToolInspection> {
  const cached = await corednsFromCache(world, version);
  if ('found' in cached) return inspection('coredns', false, cached);
  const installed = inspection('coredns', false, await toolFromPath(world, 'coredns', version));
  if (installed.found !== null) return installed;
  const how = await corednsHow(world, version);
  const fix = how === null ? 'Install Go, or put CoreDNS into the cache; see the README.' : null;
  return { ...installed, problem: `${cached.problem}; in PATH: ${installed.problem}`, wouldBeGot: how, fix };
}

async function inspectDnsperf(world: World): Promise<ToolInspection> {
  const installed = inspection('dnsperf', false, await toolFromPath(world, 'dnsperf'));
  if (installed.found !== null) return installed;
  const how = await dnsperfHow(world);
  return { ...installed, wouldBeGot: how, fix: how === null ? await installHint(world, 'dnsperf') : null };
}

async function inspectOptional(world: World, tool: 'knotd' | 'nsd'): Promise<ToolInspection> {
  const installed = inspection(tool, true, await toolFromPath(world, tool));
  return installed.found === null ? { ...installed, fix: await installHint(world, tool) } : installed;
}

async function inspectEcho(world: World): Promise<ToolInspection> {
  const inC = await echoInC(world);
  return inspection('udp-echo', true, 'found' in inC ? inC : await echoOnNode(world));
}

/** Looks at every tool, one after the other. */
export async function inspectTools(
  world: World,
  { corednsVersion }: { readonly corednsVersion: string },
): Promise<readonly ToolInspection[]> {
  return [
    await inspectCoredns(world, corednsVersion),
    inspection('dinodns-server', false, await dinodnsServer(world)),
    await inspectDnsperf(world),
    await inspectOptional(world, 'knotd'),
    await inspectOptional(world, 'nsd'),
    await inspectEcho(world),
  ];
}

/** From options to a place where samples can be taken: names, programs, namespaces. */
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { fileURLToPath } from 'node:url';
import { configure } from '../../config/configuration.ts';
import { caseNameOf } from '../../config/server-name.ts';
import { BenchError } from '../../errors.ts';
import { findExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { preparePrograms } from '../../measure/session.ts';
import { runToEnd } from '../../process.ts';
import type { Display } from '../../progress/display.ts';
import { loadServers } from '../../servers/load.ts';
import type { Server } from '../../servers/server.ts';
import type { World } from '../../world.ts';
import { findNamespaceTools } from './lab/lab.ts';
import { demandResolver } from './lab/resolvers.ts';
import { labPlace } from './lab-place.ts';
import { machinePlace } from './machine-place.ts';
import { type LookupOptions, portOf } from './options.ts';
import type { Place } from './place.ts';
import { SYN_LINEAR_TIMEOUTS } from './policy/modes.ts';
import type { LookupRecord } from './record.ts';
import { BUILTIN_PROGRAM, builtinCommand } from './sampling/sampler.ts';

export interface Prepared {
  readonly place: Place;
  readonly resolvers: readonly string[];
  readonly serverRecords: LookupRecord['serverRecords'];
  readonly tools: LookupRecord['tools'];
  /** Path of tcpdump; null for no capture. */
  readonly tcpdump: string | null;
  /** Why something cannot be had here. */
  readonly warnings: readonly string[];
}

interface PrepareRequest {
  readonly world: World;
  readonly options: LookupOptions;
  readonly display: Display;
  readonly logDirectory: string;
  readonly signal: AbortSignal;
  readonly force: AbortSignal;
}

/** What a machine without its own resolver's help calls it. */
const THIS_MACHINE = 'this machine';

/** How many times the kernel repeats a SYN each second before it doubles the wait; 0 before Linux 6.5. */
export async function synLinearTimeouts(world: World): Promise<number> {
  const text = await readIfThere(world, '/proc/sys/net/ipv4/tcp_syn_linear_timeouts');
  return text === null ? 0 : Number(text.trim() || SYN_LINEAR_TIMEOUTS);
}

async function versionOf(world: World, command: readonly string[]): Promise<string | null> {
  const { stdout, stderr } = await runToEnd(world, command);
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? null;
}

/** @throws BenchError `E_TOOL_MISSING` without curl, where curl is a client */
async function demandCurl(world: World, { clients }: LookupOptions): Promise<string | null> {
  if (!clients.includes('curl')) return null;
  const curl = await findExecutable(world, 'curl');
  if (curl !== null) return versionOf(world, [curl, '--version']);
  throw new BenchError('E_TOOL_MISSING', 'curl is not there', {
    fix: 'Install curl, or measure with the built-in client: --client builtin.',
  });
}

/** @throws BenchError `E_TOOL_MISSING` if the built-in client is asked for and cannot work here */
async function demandBuiltin(world: World, { clients }: LookupOptions): Promise<void> {
  if (!clients.includes('builtin')) return;
  const check = builtinCommand(world.processes.nodePath, fileURLToPath(BUILTIN_PROGRAM));
  const { code, stderr } = await runToEnd(world, check);
  if (code === 0) return;
  throw new BenchError('E_TOOL_MISSING', 'the built-in client does not work here', {
    evidence: stderr.split('\n').filter((line) => /^\w*Error\b/.test(line)),
    fix: 'Its error is above; it needs Linux and koffi. Measure with curl: --client curl.',
  });
}

/** Where to find tcpdump, or why there is no capture. */
async function findTcpdump(
  world: World,
  { capture }: LookupOptions,
): Promise<{ path: string } | { reason: string }> {
  if (!capture) return { reason: '--no-capture: duplicates and queries are not counted' };
  if (world.machine.userId !== 0)
    return { reason: 'without root there is no capture: duplicates and queries are not counted' };
  const path = (await findExecutable(world, 'tcpdump')) ?? (await findExecutable(world, '/usr/sbin/tcpdump'));
  return path === null
    ? { reason: 'tcpdump is not there: duplicates and queries are not counted' }
    : { path };
}

/** @throws BenchError `E_NO_ANSWER` if the resolver of this machine knows no address of the name */
async function demandAddresses({ hostname }: URL): Promise<string[]> {
  try {
    const name = hostname.replace('*', () => randomUUID());
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (cause) {
    throw new BenchError('E_NO_ANSWER', `--url: this machine's resolver finds no address of ${hostname}`, {
      fix: 'Correct the name, or the resolver (/etc/resolv.conf). --local needs neither: it brings both.',
      cause,
    });
  }
}

/** The servers of --local, checked. */
export async function resolversOf(world: World, options: LookupOptions): Promise<readonly Server[]> {
  const { corednsVersion } = configurationOf(options);
  const servers = await loadServers(world, options.servers, { corednsVersion });
  for (const server of servers) demandResolver(server);
  const twice = options.servers.find((name, index) => options.servers.indexOf(name) !== index);
  if (twice !== undefined)
    throw new BenchError('E_CONFIG', `--servers: "${twice}" is there twice`, { fix: 'Omit one.' });
  return servers;
}

/** The settings of a comparison that say how programs are found. */
function configurationOf({ servers, corednsVersion, provision }: LookupOptions) {
  return configure({
    flags: {
      servers: [...servers],
      baseline: caseNameOf(servers[0] ?? ''),
      loader: 'builtin',
      provision,
      corednsVersion,
    },
    env: {},
  });
}

async function prepareLab(
  request: PrepareRequest,
): Promise<Pick<Prepared, 'place' | 'resolvers' | 'serverRecords'>> {
  const { world, options, display, logDirectory, signal, force } = request;
  const servers = await resolversOf(world, options);
  await findNamespaceTools(world);
  const programs = await preparePrograms(world, servers, configurationOf(options), [], display, signal);
  const place = await labPlace({
    world,
    servers,
    programOf: programs.programOf,
    host: options.url.hostname,
    port: portOf(options.url),
    hasPolicy: options.policies.length > 0,
    programDelaySeconds: options.programDelaySeconds,
    hasIpv6: options.hasIpv6,
    hasEcn: options.hasEcn,
    search: options.search,
    ndots: options.ndots,
    logDirectory,
    signal,
    force,
  });
  return { place, resolvers: servers.map(({ name }) => name), serverRecords: [...programs.servers] };
}

/** Everything that can be missing is reported before the first sample. The caller closes the place. */
export async function prepareLookup(request: PrepareRequest): Promise<Prepared> {
  const { world, options } = request;
  const addresses = options.target === 'machine' ? await demandAddresses(options.url) : [];
  const curl = await demandCurl(world, options);
  await demandBuiltin(world, options);
  const found = await findTcpdump(world, options);
  const tcpdump = 'path' in found ? found.path : null;
  const tools = { curl, tcpdump: tcpdump === null ? null : await versionOf(world, [tcpdump, '--version']) };
  const { place, resolvers, serverRecords } =
    options.target === 'local'
      ? await prepareLab(request)
      : { place: await machinePlace(world, addresses), resolvers: [THIS_MACHINE], serverRecords: [] };
  return {
    place,
    resolvers,
    serverRecords,
    tools,
    tcpdump: place.taps.length === 0 ? null : tcpdump,
    warnings: 'reason' in found ? [`${found.reason}.`] : [],
  };
}

/**
 * Everything a run needs that has to be opened and closed: tools, CPU limits, the target, the loader. Effects only;
 * the configuration and the machine's abilities decide.
 */
import type { RunConfiguration } from '../config/configuration.ts';
import { BenchError, internalError } from '../errors.ts';
import { createBuiltin } from '../loaders/builtin/builtin.ts';
import { MODES as DNSPERF_MODES } from '../loaders/dnsperf/command.ts';
import { createDnsperf } from '../loaders/dnsperf/dnsperf.ts';
import { dnsperfProgram } from '../loaders/dnsperf/program.ts';
import type { Loader } from '../loaders/loader.ts';
import type { LocalLoaderOptions } from '../loaders/local-loader.ts';
import type { PlannedCase } from '../plan/plan.ts';
import { allOrAbort, runToEnd } from '../process.ts';
import type { Display } from '../progress/display.ts';
import { provisionProgress } from '../progress/provision-progress.ts';
import { createProvisioner, type Program, type ProvisionOptions } from '../provision/provision.ts';
import { isEncrypted, type ProvisionedTool, type ServerRecord, type Transport } from '../results/record.ts';
import { AS_FOUND, answersOf, identityOf, type Server, type ServerVersion } from '../servers/server.ts';
import { signZones } from '../signing/sign-zones.ts';
import { assignCpus, availableCpuNumbers } from '../targets/local/cpu-sets.ts';
import { createLocalTarget } from '../targets/local/local-target.ts';
import { createResourceGroups } from '../targets/local/resource-groups.ts';
import type { Target } from '../targets/target.ts';
import { type BenchWorkload, needsBuiltin, readinessQueries, zoneSetOf } from '../workload/workload.ts';
import type { World } from '../world.ts';

/** Which loader a run uses. */
export type LoaderChoice =
  | { readonly kind: 'dnsperf'; readonly tool: ProvisionedTool }
  /** `reason`: why it is not dnsperf, if the user left the choice to us. */
  | { readonly kind: 'builtin'; readonly reason: string | null };

/** The programs of a run: found or provisioned, and asked for their versions. */
export interface Programs {
  readonly provisioned: readonly ProvisionedTool[];
  readonly servers: readonly ServerRecord[];
  readonly loader: LoaderChoice;
  programOf(server: Server): readonly string[];
}

/** A script, such as the DinoDNS server, runs on the same Node.js as bench. */
function commandFor(world: World, { executable, arguments: given = [] }: ProvisionedTool): readonly string[] {
  return /\.[cm]?[jt]s$/.test(executable)
    ? [world.processes.nodePath, executable, ...given]
    : [executable, ...given];
}

/** So long that only a program that hangs, or a machine too busy to measure on, does not answer. */
const VERSION_SECONDS = 60;

async function askVersion(
  world: World,
  server: Server,
  tool: ProvisionedTool,
): Promise<ServerVersion | null> {
  if (server.versionArguments.length === 0) return null;
  const command = [...commandFor(world, tool), ...server.versionArguments];
  const { signal, stdout, stderr } = await runToEnd(world, command, { timeoutSeconds: VERSION_SECONDS });
  // Without the answer, the record would have the version of another part.
  if (signal !== null) {
    const end =
      signal === 'SIGKILL'
        ? `did not tell its version in ${VERSION_SECONDS} seconds`
        : `ended with ${signal}`;
    throw new BenchError('E_SERVER_START', `${server.title} ${end}: ${command.join(' ')}`, {
      fix: 'Run the command by itself. If it answers, the machine was too busy: run again when it is calmer.',
    });
  }
  return server.parseVersion(`${stdout}\n${stderr}`);
}

async function describeServer(world: World, server: Server, tool: ProvisionedTool): Promise<ServerRecord> {
  const version = await askVersion(world, server, tool);
  return {
    ...identityOf(server),
    version: version?.version ?? tool.version,
    executable: tool.executable,
    components: {
      ...version?.components,
      ...answersOf(server),
    },
    files: {},
  };
}

/** What a record says of a server that was running before: bench cannot ask it for its version. */
function describeRunning(server: Server): ServerRecord {
  return { ...identityOf(server), version: 'as found', executable: '', components: AS_FOUND, files: {} };
}

const programKey = (program: Program | null, version: string | null) => `${program?.name} ${version}`;

/**
 * Finds or installs every tool of the run and of its `helpers` before anything is measured: the servers one after the
 * other, and the loader meanwhile, since CoreDNS can take minutes to build.
 */
export async function preparePrograms(
  world: World,
  servers: readonly Server[],
  configuration: RunConfiguration,
  workloads: readonly BenchWorkload[],
  display: Display,
  signal: AbortSignal,
  helpers: readonly Server[] = [],
): Promise<Programs> {
  const provide = createProvisioner(world);
  // If one cannot be had, the other is not waited for.
  const failed = new AbortController();
  const optionsFor = (version: string | null): ProvisionOptions => ({
    allowed: configuration.provision,
    version,
    progress: provisionProgress(display, world.clock),
    signal: AbortSignal.any([signal, failed.signal]),
  });
  // All of them before the first is got: it may take minutes to build.
  const asked = new Map(servers.map((server) => [programKey(server.program, server.version), server]));
  if (configuration.provision)
    for (const { program, version } of asked.values())
      await program?.demandVersion?.(world, { version }, signal);
  // Servers of the same program and version share it.
  const tools = new Map<string, ProvisionedTool>();
  const provideServers = async () => {
    for (const { program, version } of [...servers, ...helpers]) {
      const key = programKey(program, version);
      if (program === null || tools.has(key)) continue;
      tools.set(key, await provide(program, optionsFor(version)));
      signal.throwIfAborted();
    }
  };
  const wanted = needsBuiltin(configuration.objective, workloads) ? 'builtin' : configuration.loader;
  const provideLoader = () =>
    chooseLoader(wanted, configuration.transports, async () => {
      const tool = await provide(dnsperfProgram, optionsFor(null));
      await demandTransports(world, tool, configuration.transports);
      return tool;
    });
  const [, loader] = await allOrAbort([provideServers(), provideLoader()], failed);
  signal.throwIfAborted();
  const toolOf = ({ name, program, version }: Server): ProvisionedTool => {
    const tool = tools.get(programKey(program, version));
    if (tool === undefined) throw internalError(`${name} was not prepared`);
    return tool;
  };
  return {
    provisioned: [...tools.values(), ...(loader.kind === 'dnsperf' ? [loader.tool] : [])],
    servers: await Promise.all(
      servers.map((server) =>
        server.existing === undefined
          ? describeServer(world, server, toolOf(server))
          : describeRunning(server),
      ),
    ),
    loader,
    programOf: (server) => (server.existing === undefined ? commandFor(world, toolOf(server)) : []),
  };
}

/** Old versions of dnsperf, and builds without its libraries, lack `-m dot` or `-m doh`: its usage lists what it has. */
async function demandTransports(
  world: World,
  { executable, version }: ProvisionedTool,
  transports: readonly Transport[],
): Promise<void> {
  const encrypted = transports.filter(isEncrypted);
  if (encrypted.length === 0) return;
  const { stdout, stderr } = await runToEnd(world, [executable, '-h']);
  const known = /-m set transport mode: (.*)/.exec(`${stdout}\n${stderr}`)?.[1] ?? 'none';
  const missing = encrypted.find((transport) => !known.includes(DNSPERF_MODES[transport]));
  if (missing === undefined) return;
  throw new BenchError(
    'E_TOOL_MISSING',
    `dnsperf ${version} has no transport for --transport ${missing} (it has: ${known})`,
    { fix: 'Use --loader builtin, or install a newer dnsperf.' },
  );
}

/**
 * Measured with dnsperf 2.10 on loopback: one query in flight takes 42 ms, because the head and the body of a request
 * are two small writes without TCP_NODELAY and the second waits for a delayed acknowledgement; and with Node.js as the
 * server, two of three queries never complete.
 */
const NOT_OVER_HTTPS =
  'dnsperf waits about 40 ms for each answer over HTTPS and loses some; --loader dnsperf uses it all the same';

/** Without a requested loader: dnsperf, or the built-in loader where dnsperf can be neither found nor installed. */
async function chooseLoader(
  wanted: RunConfiguration['loader'],
  transports: readonly Transport[],
  dnsperf: () => Promise<ProvisionedTool>,
): Promise<LoaderChoice> {
  if (wanted === 'builtin') return { kind: 'builtin', reason: null };
  if (wanted === 'auto' && transports.includes('https')) return { kind: 'builtin', reason: NOT_OVER_HTTPS };
  try {
    return { kind: 'dnsperf', tool: await dnsperf() };
  } catch (error) {
    const missing =
      error instanceof BenchError && (error.code === 'E_TOOL_MISSING' || error.code === 'E_PROVISION_FAILED');
    if (wanted === 'dnsperf' || !missing) throw error;
    const [reason] = error.evidence.filter((line) => !line.startsWith('PATH: '));
    return { kind: 'builtin', reason: reason === undefined ? error.message : `${error.message} (${reason})` };
  }
}

export interface Session {
  readonly target: Target;
  readonly loader: Loader;
  /** Loaders that may be used instead, if the choice was left to us. */
  readonly alternatives?: readonly Loader[];
  close(): Promise<void>;
}

export interface SessionRequest {
  readonly world: World;
  readonly runId: string;
  readonly configuration: RunConfiguration;
  readonly choice: LoaderChoice;
  readonly cases: readonly Pick<PlannedCase, 'allowances'>[];
  readonly signal: AbortSignal;
  /** Aborted when servers should be killed at once. */
  readonly force: AbortSignal;
}

/** The CPUs that no case gives to a server: one set for the whole run, so that all cases have the same loader. */
async function loaderCpus(world: World, cases: SessionRequest['cases']): Promise<readonly number[]> {
  const available = await availableCpuNumbers(world);
  const sets = cases.map(({ allowances }) => assignCpus(available, allowances).loader);
  return available.filter((cpu) => sets.every((set) => set.includes(cpu)));
}

function createLoader(choice: LoaderChoice, common: LocalLoaderOptions): Loader {
  return choice.kind === 'builtin'
    ? createBuiltin(common)
    : createDnsperf({ ...common, executable: choice.tool.executable, version: choice.tool.version });
}

/** Where servers listen, by IP version. */
const LOOPBACK = { 4: '127.0.0.1', 6: '::1' } as const;

function signerOf({ world, configuration, signal }: SessionRequest): (directory: string) => Promise<void> {
  const zoneSet = zoneSetOf(configuration.zones, configuration.types);
  return (directory) => signZones(world, zoneSet, directory, signal);
}

/** Opens the local target and the loader beside it. The caller must always close it. */
export async function openLocalSession(request: SessionRequest): Promise<Session> {
  const { world, runId, configuration } = request;
  const groups = await createResourceGroups(world, { runId, request: configuration.cpu });
  try {
    const target = await createLocalTarget(world, {
      groups,
      readinessQueries,
      force: request.force,
      address: LOOPBACK[configuration.ip],
      ...(configuration.dnssec ? { signZones: signerOf(request) } : {}),
    });
    const cpuSet = groups.method === 'affinity' ? await loaderCpus(world, request.cases) : null;
    const loader = createLoader(request.choice, { world, groups, cpuSet });
    const mayChoose = configuration.loader === 'auto' && loader.kind === 'dnsperf';
    const alternatives = mayChoose ? [createBuiltin({ world, groups, cpuSet })] : [];
    return { target, loader, alternatives, close: () => target.close() };
  } catch (error) {
    await groups.close();
    throw error;
  }
}

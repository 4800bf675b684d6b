/** CoreDNS as clusters run it, beside API servers on this machine: what its measurements decide, and open. */
import type { RunConfiguration } from '../../config/configuration.ts';
import { parseServerName } from '../../config/server-name.ts';
import type { Opened, OpenRequest } from '../../engine/experiment.ts';
import { type DecidedServers, openServers, planServers } from '../../engine/servers.ts';
import { BenchError, type Refusal, refuse } from '../../errors.ts';
import type { LoadOutcome, LoadRequest } from '../../loaders/loader.ts';
import { loadFor } from '../../measure/load.ts';
import type { TrialContext } from '../../measure/trial-context.ts';
import type { InstanceRecord } from '../../results/record.ts';
import { corednsCluster } from '../../servers/coredns-cluster/index.ts';
import { NO_SERVERS } from '../../servers/registry.ts';
import type { World } from '../../world.ts';
import type { CorednsContext } from './deploy-coredns.ts';

/**
 * `--servers` names CoreDNS as clusters run it, in any version.
 * @throws BenchError `E_CONFIG` for any other, and for a variant: the configuration is an axis of its own.
 */
export function demandClusterServers(servers: readonly string[]): void {
  for (const entry of servers) {
    const name = parseServerName(entry);
    if (name?.kind === corednsCluster.name && name.variant === null) continue;
    const isVariant = name?.kind === corednsCluster.name;
    throw new BenchError(
      'E_CONFIG',
      `--servers: "${entry}" ${isVariant ? 'names a variant' : `is not ${corednsCluster.name}`}`,
      {
        fix:
          NO_SERVERS.get(name?.kind ?? '') ??
          `Give versions of it, for example ${corednsCluster.name}@1.11.3,${corednsCluster.name}@1.15.0; configurations are named by --configurations.`,
      },
    );
  }
}

export interface CorednsSettings {
  readonly servers: readonly string[];
  readonly corednsVersion?: string | undefined;
  readonly provision?: boolean;
  readonly loader?: string;
}

/**
 * The servers, with neither cases nor workloads: each measurement has its own.
 * @param command of `bench`, for errors
 * @throws BenchError `E_CONFIG`, as `demandClusterServers` does as well
 */
export async function decideCoredns(
  world: World,
  command: string,
  { servers, corednsVersion, provision, loader }: CorednsSettings,
): Promise<DecidedServers> {
  demandClusterServers(servers);
  const settings = { servers, corednsVersion, provision, loader, baseline: servers[0], mode: 'multi' };
  const { decided } = await planServers(world, command, settings, 0);
  return { ...decided, plan: { ...decided.plan, cases: [] }, workloads: [] };
}

/** What starts CoreDNS, and loads it. */
export type CorednsMachine = Omit<CorednsContext, 'onFiles'> &
  Pick<TrialContext, 'rawDirectory' | 'loader'> & { readonly configuration: RunConfiguration };

/** CoreDNS has the environment of bench, and these change how much memory it needs, or how it reads. */
const TUNING = /^(GOGC|GOMEMLIMIT|GODEBUG|GOMAXPROCS|KUBE_FEATURE_\w+|ENABLE_CLIENT_GO_WATCH_LIST_ALPHA)$/;

/** @throws BenchError `E_CONFIG` where CoreDNS would not be as everybody has it */
export function demandPlainEnvironment({ env }: Pick<World, 'env'>): void {
  const names = Object.keys(env).filter((name) => env[name] !== undefined && TUNING.test(name));
  refuse(
    ...names.map(
      (name): Refusal => [
        `${name} is set in the environment, and CoreDNS would have it as well`,
        `Unset it: \`unset ${name}\`.`,
      ],
    ),
  );
}

/** Gets the programs and opens this machine. */
export async function openCoredns(
  request: Omit<OpenRequest<unknown, unknown>, 'settings' | 'decided'>,
  command: string,
  settings: CorednsSettings,
): Promise<Opened<CorednsMachine>> {
  demandPlainEnvironment(request.world);
  const decided = await decideCoredns(request.world, command, settings);
  const opened = await openServers({ ...request, settings: undefined, decided });
  const { loader } = opened.context;
  return {
    ...opened,
    context: { ...opened.context, servers: new Map(decided.servers.map((server) => [server.name, server])) },
    conditions: { 'load generator': `${loader.kind} ${loader.version}` },
    warnings: [],
  };
}

type Load = Pick<
  LoadRequest,
  'queryFile' | 'durationSeconds' | 'ratePerSecond' | 'openLoop' | 'timeoutSeconds' | 'signal'
> &
  Partial<Pick<LoadRequest, 'onStarted'>>;

/** Sends queries to a CoreDNS of this machine; what the load generator prints goes into numbered files of the directory. */
export function loadsInto(
  { loader, configuration }: Pick<CorednsMachine, 'loader' | 'configuration'>,
  directory: string,
) {
  let loads = 0;
  return (
    { address, port }: Pick<InstanceRecord, 'address' | 'port'>,
    load: Load,
    stage = '',
  ): Promise<LoadOutcome> => {
    loads += 1;
    const endpoint = { address, port };
    return loader.load({
      ...loadFor(configuration, endpoint),
      ...{ endpoint, transport: 'udp', source: null, dnssecOk: false },
      ...{ onStarted: () => undefined, onProgress: () => undefined, ...load },
      outputFile: `${directory}/${loader.kind}-${loads}${stage}.txt`,
    });
  };
}

/** Servers as processes of this machine, on ports of its loopback address. */
import { join } from 'node:path';
import type { ZoneSet } from '@dinodns-bench/zones';
import { AUTHORITY_FILE, makeCertificates, SERVER_NAME } from '../../certificates/certificates.ts';
import { createDnsClient, type DnsQuery } from '../../dns/client.ts';
import { BenchError } from '../../errors.ts';
import { createRunDirectory } from '../../machine/run-directory.ts';
import { mergeCounters, observeGroups } from '../../observe/observe.ts';
import { once, type RunningProcess } from '../../process.ts';
import { isEncrypted } from '../../results/record.ts';
import type { World } from '../../world.ts';
import type { Deployment, DeployRequest, Target } from '../target.ts';
import { assignCpus, availableCpuNumbers } from './cpu-sets.ts';
import { findFreePort, retryTaken } from './free-port.ts';
import { describeExit, type Instance, type LocalEncryption, logTail, startInstance } from './instance.ts';
import type { ResourceGroups } from './resource-group.ts';
import { adoptRunning } from './running-server.ts';

export interface LocalTargetOptions {
  /** The run's groups; the target closes them. */
  readonly groups: ResourceGroups;
  /** Names of the zone set that exist: a server that answers them has loaded its zones. */
  readonly readinessQueries: (zoneSet: ZoneSet) => readonly DnsQuery[];
  /** Where servers listen; default 127.0.0.1. */
  readonly address?: string;
  /** Chooses a port for an instance; default: one that is free for UDP and TCP. */
  readonly choosePort?: (address: string) => Promise<number>;
  /** Aborted by the second Ctrl-C: kill servers instead of asking them to stop. */
  readonly force?: AbortSignal;
  /** Writes signed zone files into a directory, before the first deployment. Default: servers have unsigned zones. */
  readonly signZones?: (directory: string) => Promise<void>;
}

const DEFAULT_ADDRESS = '127.0.0.1';

/** The certificate of all servers of the run, made for the first that needs one. */
function createEncryption(world: World, directory: string, address: string): () => Promise<LocalEncryption> {
  return once(async (): Promise<LocalEncryption> => {
    const certificates = makeCertificates([address], world.clock.now());
    const authorityFile = join(directory, AUTHORITY_FILE);
    await world.fs.writeFile(authorityFile, certificates.authority);
    const { authority } = certificates;
    return { certificates, trust: { serverName: SERVER_NAME, authority, authorityFile } };
  });
}

interface Place {
  readonly index: number;
  readonly allowance: number;
  readonly cpuSet: readonly number[] | null;
  readonly name: string;
  readonly directory: string;
  readonly signedZones: string | null;
}

/** Tries again with another port if the chosen one was taken in the meantime. */
async function startOnFreePort(
  world: World,
  options: LocalTargetOptions,
  request: DeployRequest,
  place: Place,
  encryption: LocalEncryption | null,
): Promise<Instance> {
  const { address = DEFAULT_ADDRESS, choosePort = findFreePort } = options;
  return retryTaken(async () =>
    startInstance({
      world,
      groups: options.groups,
      request,
      endpoint: {
        address,
        port: await choosePort(address),
        ...(encryption === null ? {} : { trust: encryption.trust }),
      },
      certificates: encryption?.certificates ?? null,
      signedZones: place.signedZones,
      directory: place.directory,
      allowance: place.allowance,
      group: { name: place.name, cpuAllowance: place.allowance, cpuSet: place.cpuSet },
      logFile: join(request.logDirectory, `${request.server.name}-${place.index + 1}.log`),
      readinessQueries: options.readinessQueries(request.zoneSet),
      force: options.force,
    }),
  );
}

function deathOf(server: string, instance: Instance): BenchError {
  const { address, port } = instance.record;
  const exit = instance.process.exit;
  const killed =
    exit?.signal === 'SIGKILL' ? ' SIGKILL often means that the machine ran out of memory: see `dmesg`.' : '';
  return new BenchError(
    'E_SERVER_DIED',
    `${server} on ${address}:${port} ended while it was being measured (${describeExit(exit)})`,
    {
      fix: `Its last log lines are above; the trial counts as failed.${killed}`,
      evidence: logTail(instance.process),
    },
  );
}

/** Starts the instances one after the other; if one fails, those before it are removed. */
async function startAll(
  world: World,
  options: LocalTargetOptions,
  request: DeployRequest,
  places: readonly Place[],
  encryption: LocalEncryption | null,
): Promise<Instance[]> {
  const instances: Instance[] = [];
  try {
    for (const place of places) {
      request.signal.throwIfAborted();
      instances.push(await startOnFreePort(world, options, request, place, encryption));
    }
    request.signal.throwIfAborted();
    return instances;
  } catch (error) {
    await Promise.all(instances.map((instance) => instance.remove()));
    throw error;
  }
}

function deploymentOf(world: World, request: DeployRequest, instances: readonly Instance[]): Deployment {
  let isRemoved = false;
  const remove = once(async () => {
    isRemoved = true;
    await Promise.all(instances.map((instance) => instance.remove()));
    request.signal.removeEventListener('abort', onAbort);
  });
  // The interrupted run also waits for `remove`, which reports a failure.
  const onAbort = () => {
    remove().catch(() => undefined);
  };
  request.signal.addEventListener('abort', onAbort, { once: true });

  const ended = new Set<RunningProcess>();
  const { promise: died, reject } = Promise.withResolvers<never>();
  const watch = (instance: Instance) => {
    const { process } = instance;
    process.exited.then(() => {
      if (!isRemoved && !ended.has(process)) reject(deathOf(request.server.name, instance));
    });
  };
  for (const instance of instances) watch(instance);
  // It may reject when nobody waits for it, between two steps of a trial.
  died.catch(() => undefined);

  const groups = instances.map(({ group }) => group);
  return {
    instances: instances.map(({ record }) => record),
    endpoints: instances.map(({ endpoint }) => endpoint),
    companionPorts: instances[0]?.companionPorts ?? {},
    files: instances[0]?.files ?? {},
    openClient: async (endpoint) => createDnsClient(endpoint, request.transport, world.clock),
    observe: () => observeGroups(world, groups),
    usage: async () => {
      const counters = await Promise.all(groups.map((group) => group.counters()));
      const pids = await Promise.all(groups.map((group) => group.pids()));
      return {
        cpuSeconds: mergeCounters(counters).cpuSeconds,
        pids: pids.flat(),
        beside: instances.flatMap(({ companionPids }) => companionPids),
      };
    },
    restart: async (down) => {
      for (const instance of instances) ended.add(instance.process);
      await Promise.all(instances.map((instance) => instance.restart(down)));
      for (const instance of instances) watch(instance);
    },
    died,
    lastLogLines: async () => instances.flatMap(({ process }) => logTail(process)),
    remove,
  };
}

/** The directory of signed zones, null if there are to be none. Leaves nothing behind if it fails. */
async function makeSignedZones(
  world: World,
  runDirectory: string,
  signZones: LocalTargetOptions['signZones'],
): Promise<string | null> {
  if (signZones === undefined) return null;
  const directory = join(runDirectory, 'signed');
  try {
    await world.fs.mkdir(directory);
    await signZones(directory);
    return directory;
  } catch (error) {
    await world.fs.rm(runDirectory, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The local target. It makes one temporary directory for the run (in TMPDIR, else /tmp) and removes those left by
 * killed runs. `close` removes the remaining deployments, the directory, and the groups.
 */
export async function createLocalTarget(world: World, options: LocalTargetOptions): Promise<Target> {
  const { groups } = options;
  const runDirectory = await createRunDirectory(world);
  const signedZones = await makeSignedZones(world, runDirectory, options.signZones);
  const deployments = new Set<Deployment>();
  const encryptionOf = createEncryption(world, runDirectory, options.address ?? DEFAULT_ADDRESS);
  let deployed = 0;
  return {
    kind: 'local',
    cpuLimits: { method: groups.method, reason: groups.reason },
    deploy: async (request) => {
      deployed += 1;
      const number = deployed;
      const cpuSets =
        groups.method === 'affinity'
          ? assignCpus(await availableCpuNumbers(world), request.allowances).servers
          : [];
      const places = request.allowances.map((allowance, index) => {
        const name = `server-${number}-${index + 1}`;
        return {
          index,
          allowance,
          cpuSet: cpuSets[index] ?? null,
          name,
          directory: join(runDirectory, name),
          signedZones,
        };
      });
      await world.fs.mkdir(request.logDirectory, { recursive: true });
      const { existing } = request.server;
      if (existing?.kind === 'address') return adoptRunning(world, request, existing);
      const encryption = isEncrypted(request.transport) ? await encryptionOf() : null;
      const instances = await startAll(world, options, request, places, encryption);
      const deployment = deploymentOf(world, request, instances);
      deployments.add(deployment);
      return deployment;
    },
    close: async () => {
      await Promise.all([...deployments].map((deployment) => deployment.remove()));
      deployments.clear();
      await world.fs.rm(runDirectory, { recursive: true, force: true });
      await groups.close();
    },
  };
}

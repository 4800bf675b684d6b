/** Checks a plan: starts what it recommends, on this machine or on a cluster, and sees whether it holds. */
import { defineCluster } from '@dinodns-bench/cluster-objects';
import type { KubernetesSettings } from '../../../config/kubernetes-settings.ts';
import { close, endedAfter } from '../../../engine/close.ts';
import { describeEnvironment } from '../../../environment/describe.ts';
import type { Display } from '../../../progress/display.ts';
import { provisionProgress } from '../../../progress/provision-progress.ts';
import { memoryQuantity } from '../../../quantity.ts';
import type { Environment } from '../../../results/record-environment.ts';
import { newRunId } from '../../../results/run-id.ts';
import { corednsProgram } from '../../../servers/coredns/program.ts';
import { describeBoth } from '../../../targets/kubernetes/cluster-facts.ts';
import { openClient } from '../../../targets/kubernetes/open-cluster.ts';
import type { World } from '../../../world.ts';
import { corednsImage, openPrivateDns } from '../cluster/private-dns.ts';
import { demandBounded } from '../cluster/settings.ts';
import { needsPods } from '../cluster/synthetic-objects.ts';
import { BYTES_PER_MEGABYTE } from '../figures.ts';
import { objectsOf, sizeWith } from '../memory-basis.ts';
import { sizeOf } from '../plan.ts';
import type { Attempt, CapacityPlan, Verification } from '../plan-record.ts';
import { startLocally } from './start-locally.ts';
import { judge, queriesForOne, readPatience, restOf, sizeWarnings, VERIFIED_PHASES } from './verification.ts';

export interface VerifyRequest {
  readonly world: World;
  readonly plan: CapacityPlan;
  readonly target: 'local' | 'kubernetes';
  readonly settings: KubernetesSettings;
  readonly maxObjects: number;
  /** Of CoreDNS; null for the default one. */
  readonly version: string | null;
  /** Default: the recommended one. */
  readonly memoryLimitBytes: number | null;
  readonly display: Display;
  readonly signal: AbortSignal;
}

export interface Verified {
  readonly verification: Verification;
  readonly environment: Environment;
  readonly warnings: readonly string[];
}

/** How long queries are asked before everything is read again. */
const LOAD_SECONDS = 15;

function trialOf({ plan, target, memoryLimitBytes }: VerifyRequest, coredns: string): Attempt {
  return {
    ...{ target, coredns, ...sizeOf(plan.demand) },
    memoryLimitBytes: memoryLimitBytes ?? plan.memoryLimitMegabytes * BYTES_PER_MEGABYTE,
    queriesPerSecond: queriesForOne(plan.queriesPerSecond, plan.replicas),
  };
}

/** What is done with a start, here and on a cluster. */
const PROCEDURE = { phases: VERIFIED_PHASES, seconds: LOAD_SECONDS } as const;

async function verifyLocally(request: VerifyRequest): Promise<Verified> {
  const { world, display, signal, plan } = request;
  const { executable, version } = await corednsProgram.provide(world, {
    version: request.version,
    allowed: world.env.DINODNS_BENCH_PROVISION !== 'false',
    progress: provisionProgress(display, world.clock),
    signal,
  });
  const trial = trialOf(request, `CoreDNS ${version}`);
  const { services, pods, endpoints, queriesPerSecond, memoryLimitBytes } = trial;
  display.line(`verifying: one CoreDNS under ${memoryQuantity(memoryLimitBytes)}`);
  const start = await startLocally({
    ...{ ...PROCEDURE, world, queriesPerSecond, memoryLimitBytes, signal },
    coredns: executable,
    cluster: defineCluster({ services, pods, endpoints }),
    corefile: {
      ...(plan.configuration === 'autopath' ? { pods: 'verified' } : {}),
      ...(plan.demand.autopath ? { autopath: true } : {}),
    },
  });
  return { verification: judge(trial, start), environment: await describeEnvironment(world), warnings: [] };
}

async function verifyOnCluster(request: VerifyRequest): Promise<Verified> {
  const { world, display, settings, signal, plan } = request;
  const trial = trialOf(request, '');
  const limit = memoryQuantity(trial.memoryLimitBytes);
  const requested = Math.min(plan.memoryRequestMegabytes, trial.memoryLimitBytes / BYTES_PER_MEGABYTE);
  const tell = (text: string) => display.line(`verifying: ${text}`);
  const image = corednsImage(settings, request.version);
  tell('creating objects');
  const client = await openClient(world, settings.context);
  const described = await describeBoth(world, client, settings, signal);
  const dns = await openPrivateDns({
    ...{ world, client, settings, signal },
    runId: newRunId(world.clock.now()),
    sizeBeside(own) {
      const rest = restOf(trial, own);
      demandBounded(objectsOf(rest), request.maxObjects);
      return rest;
    },
    configuration: plan.configuration,
  });
  const read = sizeWith(dns.own, restOf(trial, dns.own));
  return endedAfter(
    async () => {
      tell('starting the private CoreDNS');
      const patience = readPatience(read);
      const start = await dns.start({
        ...{ ...PROCEDURE, image, queriesPerSecond: trial.queriesPerSecond },
        memory: { request: memoryQuantity(requested * BYTES_PER_MEGABYTE), limit },
        ...{ besideEnv: patience.env, moreSeconds: 2 * patience.seconds },
      });
      return {
        verification: judge({ ...trial, ...read, coredns: image }, start),
        ...described,
        warnings: [
          ...described.warnings,
          ...dns.warnings,
          ...sizeWarnings(trial, read, needsPods(plan.configuration)),
        ],
      };
    },
    () => {
      tell('deleting everything');
      return close(dns);
    },
  );
}

/** @throws BenchError if it cannot be tried; that it does not hold is a result. */
export function verifyPlan(request: VerifyRequest): Promise<Verified> {
  return request.target === 'local' ? verifyLocally(request) : verifyOnCluster(request);
}

/** `bench capacity caching --target kubernetes`: caching tiers in pods, in rounds, each trial saved the moment it ends. */

import type { Interruption } from '../../../../interruption.ts';
import type { KubeClient } from '../../../../kubernetes-api/client.ts';
import type { Display } from '../../../../progress/display.ts';
import { dnsmasq as dnsmasqKind } from '../../../../servers/dnsmasq/index.ts';
import { imagesOf } from '../../../../targets/kubernetes/images.ts';
import { namespaceOf, runLabels } from '../../../../targets/kubernetes/objects/labels.ts';
import { openClient } from '../../../../targets/kubernetes/open-cluster.ts';
import { copyPullSecrets } from '../../../../targets/kubernetes/pull-secrets.ts';
import { counted, formatDuration } from '../../../../text.ts';
import type { World } from '../../../../world.ts';
import {
  type ClusterMeasurementOptions,
  clusterMachine,
  corednsChoice,
  demandSameImages,
  demandTarget,
} from '../../cluster/cluster-measurement.ts';
import { imageRecord } from '../../cluster/images.ts';
import { syntheticCluster } from '../../cluster/synthetic-objects.ts';
import { openSyntheticRun } from '../../cluster/synthetic-run.ts';
import { newCapacityRecord } from '../../new-record.ts';
import { type CapacityRun, createRecorder, keepRun, type Measured, openRun } from '../../open-run.ts';
import { DNSMASQ_NAME } from '../caching-cases.ts';
import type { CasesResult, CaseTrial } from '../cases-record.ts';
import { trialText } from '../run.ts';
import type { CachingSettings } from '../settings.ts';
import { measureTier, type TierTrialContext } from './measure.ts';
import { clusterCachingCases, clusterCachingTrials, type PlannedCase, SERVICES } from './plan.ts';
import { clusterCachingSettings, tierImages } from './settings.ts';
import { KUBE_DNS_NAME, type TierImages } from './tiers.ts';

/** How the flags say what runs on the cluster. */
function choiceOf(world: World, options: ClusterMeasurementOptions) {
  const { settings, image, program } = corednsChoice(world, options);
  const images = tierImages(options.flags, image);
  return { settings, images, server: program.name, programs: [program, ...tierPrograms(images)] };
}
type Choice = ReturnType<typeof choiceOf>;

function tierPrograms({ dnsmasq, kubeDns }: TierImages) {
  return [
    ...(dnsmasq === null ? [] : [imageRecord(DNSMASQ_NAME, dnsmasqKind.name, dnsmasq)]),
    ...Object.entries(kubeDns ?? {}).map(([name, image]) =>
      imageRecord(`${KUBE_DNS_NAME}: ${name}`, KUBE_DNS_NAME, image),
    ),
  ];
}

/** Resolves with the exit status. */
export async function clusterCachingCommand(
  world: World,
  options: ClusterMeasurementOptions,
): Promise<number> {
  const { given, common, resume, json, argv } = options;
  const choice = choiceOf(world, options);
  const run = await openRun(world, {
    what: 'caching',
    command: 'caching --target kubernetes',
    given,
    out: common.out,
    resume,
    decide: (values) => clusterCachingSettings({ ...values, servers: values.servers ?? [choice.server] }),
  });
  demandTarget(run, 'kubernetes');
  demandSameImages(run, choice.programs);
  return keepRun(world, run, json, (attended, onSaved) =>
    measureAll(world, { run, choice, ...attended, argv }, onSaved),
  );
}

interface Means {
  readonly run: CapacityRun<CachingSettings>;
  readonly choice: Choice;
  readonly display: Display;
  readonly interruption: Interruption;
  readonly argv: readonly string[];
}

function previousTrials({ previous }: CapacityRun<unknown>): CaseTrial[] {
  return previous?.measured.what === 'caching'
    ? previous.measured.trials.filter(({ status }) => status === 'ok')
    : [];
}

async function measureAll(
  world: World,
  { run, choice, display, interruption, argv }: Means,
  onSaved: () => void,
): Promise<Measured> {
  const { settings: measurement, id } = run;
  const { settings, images, server, programs } = choice;
  const { signal } = interruption;
  const client = await openClient(world, settings.context);
  const machine = await clusterMachine(world, client, settings, programs, signal);
  const cases = clusterCachingCases(measurement, server, images);
  const trials = previousTrials(run);
  const result = (): CasesResult => ({
    what: 'caching',
    cases,
    trials: [...trials],
    upstreamDelaySeconds: measurement.upstreamDelay / 1000,
    cluster: { images: Object.fromEntries(programs.map(({ name, version }) => [name, version])) },
  });
  const first =
    run.previous ??
    newCapacityRecord(world, { id, argv, settings: { ...measurement }, machine, measured: result() });
  const { save } = createRecorder(world, run, first, result, onSaved);
  const planned = clusterCachingTrials(cases, measurement.trials, trials);
  try {
    await inNamespace(world, client, { run, choice, display, signal }, async (context) => {
      await measureTrials(world, display, context, planned, async (trial) => {
        trials.push(trial);
        await save('running');
      });
    });
    const record = await save('complete');
    return { record, failures: trials.filter(({ status }) => status === 'failed').length };
  } catch (error) {
    if (trials.length > 0) await save('interrupted');
    throw error;
  }
}

type Place = Pick<Means, 'run' | 'choice' | 'display'> & { readonly signal: AbortSignal };

/** A namespace with the Services that are looked up, and the right to read; everything is deleted at the end. */
async function inNamespace(
  world: World,
  client: KubeClient,
  { run: { id, settings: measurement }, choice: { settings, images }, display, signal }: Place,
  measure: (context: TierTrialContext) => Promise<void>,
): Promise<void> {
  const namespace = namespaceOf(settings.namespacePrefix, id);
  const cluster = syntheticCluster({ services: SERVICES, pods: 0, headless: 0 }, namespace);
  display.line(`creating ${counted(SERVICES, 'Service')}`);
  const run = await openSyntheticRun({
    world,
    client,
    runId: id,
    namespace,
    cluster,
    withPods: false,
    onProgress: () => undefined,
    signal,
  });
  try {
    const labels = runLabels(id);
    await measure({
      client,
      settings,
      namespace,
      runId: id,
      cluster,
      images,
      loaderImage: imagesOf(settings, 'builtin').loader,
      pullSecrets: await copyPullSecrets(client, settings.pullSecrets ?? [], namespace, labels, signal),
      durationSeconds: measurement.duration,
      upstreamDelaySeconds: measurement.upstreamDelay / 1000,
      signal,
    });
  } finally {
    display.line('deleting everything');
    await run.close();
  }
}

async function measureTrials(
  world: World,
  display: Display,
  context: TierTrialContext,
  planned: readonly PlannedCase[],
  onTrial: (trial: CaseTrial) => Promise<void>,
): Promise<void> {
  const { clock } = world;
  const begin = clock.monotonicSeconds();
  for (const [index, item] of planned.entries()) {
    const done = index + 1;
    const head = `${done}/${planned.length}  ${item.item.key}`;
    display.live(`  ${head}`);
    const trial = await measureTier(context, item, `trial-${done}`, clock.now().toISOString());
    await onTrial(trial);
    const left = ((clock.monotonicSeconds() - begin) / done) * (planned.length - done);
    display.line(`${head}: ${trialText(trial)}, about ${formatDuration(left)} left`);
  }
}

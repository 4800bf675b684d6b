/** `bench capacity propagation --target kubernetes`: in rounds, each trial saved the moment it ends; everything is deleted. */
import type { Interruption } from '../../../../interruption.ts';
import type { Display } from '../../../../progress/display.ts';
import { checkerImage } from '../../../../targets/kubernetes/images.ts';
import { namespaceOf } from '../../../../targets/kubernetes/objects/labels.ts';
import { openClient } from '../../../../targets/kubernetes/open-cluster.ts';
import type { World } from '../../../../world.ts';
import { guardClusterDns } from '../../cluster/cluster-dns-guard.ts';
import {
  type ClusterMeasurementOptions,
  clusterMachine,
  corednsChoice,
  demandSameImages,
  demandTarget,
} from '../../cluster/cluster-measurement.ts';
import { DEFAULT_MAX_OBJECTS, demandBounded } from '../../cluster/settings.ts';
import { wholeNumber } from '../../demand.ts';
import { newCapacityRecord } from '../../new-record.ts';
import { type CapacityRun, createRecorder, keepRun, type Measured, openRun } from '../../open-run.ts';
import { previousTrials, propagationCases, propagationStarts } from '../plan.ts';
import { progressLines } from '../progress.ts';
import type { PropagationResult, PropagationTrial } from '../propagation-record.ts';
import type { PropagationSettings } from '../settings.ts';
import { measureClusterStart } from './measure.ts';
import { createPlaces } from './places.ts';
import { clusterPropagationSettings } from './settings.ts';

/** How the flags say what runs on the cluster. */
function choiceOf(world: World, options: ClusterMeasurementOptions) {
  const maxObjects = options.flags.maxObjects === undefined ? undefined : String(options.flags.maxObjects);
  return {
    ...corednsChoice(world, options),
    maxObjects: wholeNumber('--max-objects', maxObjects, DEFAULT_MAX_OBJECTS, 1),
  };
}
type Choice = ReturnType<typeof choiceOf>;

/** Resolves with the exit status. */
export async function clusterPropagationCommand(
  world: World,
  options: ClusterMeasurementOptions,
): Promise<number> {
  const { given, common, resume, json, argv } = options;
  const choice = choiceOf(world, options);
  const run = await openRun(world, {
    what: 'propagation',
    command: 'propagation --target kubernetes',
    given,
    out: common.out,
    resume,
    decide: (values) =>
      clusterPropagationSettings({ ...values, servers: values.servers ?? [choice.program.name] }),
  });
  demandTarget(run, 'kubernetes');
  demandSameImages(run, [choice.program]);
  for (const objects of run.settings.objects) demandBounded(objects, choice.maxObjects);
  return keepRun(world, run, json, (attended, onSaved) =>
    measureAll(world, { run, choice, ...attended, argv }, onSaved),
  );
}

interface Means {
  readonly run: CapacityRun<PropagationSettings>;
  readonly choice: Choice;
  readonly display: Display;
  readonly interruption: Interruption;
  readonly argv: readonly string[];
}

async function measureAll(
  world: World,
  { run, choice, display, interruption, argv }: Means,
  onSaved: () => void,
): Promise<Measured> {
  const { settings: measurement, id } = run;
  const { settings, image: corednsImage } = choice;
  const client = await openClient(world, settings.context);
  const machine = await clusterMachine(world, client, settings, [choice.program], interruption.signal);
  const guard = await guardClusterDns(client, interruption.signal);
  const signal = AbortSignal.any([interruption.signal, guard.signal]);
  const trials = previousTrials(run);
  let after = guard.before;
  const result = (): PropagationResult => ({
    what: 'propagation',
    cases: propagationCases(measurement),
    trials: [...trials],
    pollSeconds: measurement.poll / 1000,
    timeoutSeconds: measurement.timeout,
    cluster: {
      corednsImage,
      clusterDns: guard.before === null || after === null ? null : { before: guard.before, after },
    },
  });
  const first =
    run.previous ??
    newCapacityRecord(world, { id, argv, settings: { ...measurement }, machine, measured: result() });
  const recorder = createRecorder(world, run, first, result, onSaved);
  const starts = propagationStarts(measurement, trials);
  const report = progressLines(world, display, starts.flatMap(({ cases }) => cases).length);
  const namespace = namespaceOf(settings.namespacePrefix, id);
  const places = createPlaces({
    world,
    client,
    settings,
    runId: id,
    namespace,
    onFiles: recorder.onFiles,
    tell: (text) => display.line(text),
    signal,
  });
  const context = {
    client,
    settings,
    namespace,
    runId: id,
    corednsImage,
    observerImage: checkerImage(settings),
    measurement,
    onPhase: report.phase,
    async onTrial(trial: PropagationTrial) {
      trials.push(trial);
      await recorder.save('running');
      report.done(trial);
    },
    signal,
  };
  try {
    for (const start of starts) {
      const place = await places.open(start);
      await measureClusterStart({ ...context, ...place }, start, () => world.clock.now());
    }
    after = await guard.now();
    await places.close();
    const record = await recorder.save('complete');
    return { record, failures: trials.filter(({ status }) => status === 'failed').length };
  } catch (error) {
    if (trials.length > 0) await recorder.save('interrupted');
    throw error;
  } finally {
    guard.stop();
    await places.close();
  }
}

/** From the results of the pods of a trial to its evidence. Pure. */
import { mergeCaptures } from '../capture/merge.ts';
import type { LookupEvidence } from '../evidence.ts';
import { evidenceOf } from '../trial.ts';
import type { PodResult } from './sample-in-pods.ts';

/** @param isCold Whether the pods had asked nothing before their first samples. */
export function evidenceOfPods(pods: readonly PodResult[], seconds: number, isCold: boolean): LookupEvidence {
  const repeats = pods.flatMap(({ sampled }) => sampled.kernelRepeats ?? []);
  return evidenceOf({
    seconds,
    samplers: pods.map(({ sampled, pod, node }) => ({ ...sampled, name: pod, node, isCold })),
    packets: mergeCaptures(pods.flatMap(({ capture }) => capture ?? [])),
    kernel: {
      syn: repeats.length < pods.length ? null : repeats.reduce((sum, count) => sum + count, 0),
      // The other side is behind a Service.
      synAck: null,
      scope: 'namespace',
    },
    prediction: null,
  });
}

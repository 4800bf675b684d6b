/** From what samplers, captures and the kernel said to the evidence of a trial. Pure. */
import { isIP } from 'node:net';
import { BenchError } from '../../errors.ts';
import { summed } from './capture/merge.ts';
import { phaseDistributions } from './distribution.ts';
import type { LookupEvidence } from './evidence.ts';
import type { Sample, SuccessfulSample } from './sampling/sample.ts';
import { exitText } from './sampling/sample.ts';
import type { Sampled } from './sampling/sampler.ts';

export interface SamplerOutput extends Sampled {
  /** Name of the pod or namespace. */
  readonly name: string;
  readonly node: string | null;
  /** Whether nothing was asked before its first sample. */
  readonly isCold: boolean;
}

export type TrialParts = Pick<LookupEvidence, 'seconds' | 'packets' | 'kernel' | 'prediction'> & {
  readonly samplers: readonly SamplerOutput[];
};

function isSuccessful(sample: Sample): sample is SuccessfulSample {
  return sample.outcome === 'ok';
}

type Failures = LookupEvidence['samples']['failed'];

/** Failures by exit status, most often first. */
export function addedFailures(failures: Failures): Failures {
  return summed(failures, ({ exitCode }) => exitCode, 'count').sort((a, b) => b.count - a.count);
}

function firstOf({ samples: [first], isCold }: SamplerOutput): LookupEvidence['samplers'][number]['first'] {
  if (!isCold || first === undefined || !isSuccessful(first)) return null;
  const { lookup, connect } = first.phases;
  return { lookup, connect };
}

/** Half of the samples or more must succeed. */
const MIN_SUCCESS = 0.5;

function failureOf(
  { taken, succeeded, failed }: LookupEvidence['samples'],
  isComplete: boolean,
): string | null {
  if (taken === 0) return isComplete ? 'no sample was taken' : 'the sampler ended before its first sample';
  if (succeeded >= taken * MIN_SUCCESS) return isComplete ? null : 'the sampler ended early';
  const [commonest] = failed;
  const why = commonest === undefined ? '' : `; most often exit status ${exitText(commonest.exitCode)}`;
  return `${taken - succeeded} of ${taken} samples failed${why}`;
}

/** @throws BenchError `E_TRIALS_FAILED` if more than half of the samples failed, or a sampler did not come to its end */
export function evidenceOf({ samplers, ...parts }: TrialParts): LookupEvidence {
  const samples = samplers.flatMap((sampler) => sampler.samples);
  const ok = samples.filter(isSuccessful);
  const failed = samples.flatMap((sample) =>
    isSuccessful(sample) ? [] : [{ exitCode: sample.exitCode, count: 1 }],
  );
  const counts = { taken: samples.length, succeeded: ok.length, failed: addedFailures(failed) };
  const failure = failureOf(
    counts,
    samplers.every(({ isComplete }) => isComplete),
  );
  const phases = phaseDistributions(ok.map((sample) => sample.phases));
  if (failure !== null || phases === null) {
    throw new BenchError('E_TRIALS_FAILED', failure ?? 'no sample succeeded', {
      fix: 'The output of the samplers is in the folder raw of the run.',
    });
  }
  return {
    ...parts,
    samplers: samplers.map((sampler) => ({
      name: sampler.name,
      node: sampler.node,
      samples: sampler.samples.length,
      first: firstOf(sampler),
    })),
    samples: counts,
    phases,
    families: {
      ipv4: ok.filter(({ address }) => isIP(address) === 4).length,
      ipv6: ok.filter(({ address }) => isIP(address) === 6).length,
    },
  };
}

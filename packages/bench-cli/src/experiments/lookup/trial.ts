/** From what samplers, captures and the kernel said to the record of a trial. Pure. */
import { isIP } from 'node:net';
import { phaseDistributions } from './distribution.ts';
import type { LookupTrial, Packets } from './record.ts';
import { exitText } from './sampling/exit-codes.ts';
import type { Sample, SuccessfulSample } from './sampling/sample.ts';
import type { Sampled } from './sampling/sampler.ts';

/** Where and when a trial was. */
export type TrialHead = Pick<LookupTrial, 'key' | 'subject' | 'round' | 'order' | 'startedAt' | 'seconds'>;

export interface SamplerOutput extends Sampled {
  /** Name of the pod or namespace. */
  readonly name: string;
  readonly node: string | null;
  /** Whether nothing was asked before its first sample. */
  readonly isCold: boolean;
}

export interface TrialParts {
  readonly head: TrialHead;
  readonly samplers: readonly SamplerOutput[];
  readonly packets: Packets | null;
  readonly kernel: LookupTrial['kernel'];
}

export function isSuccessful(sample: Sample): sample is SuccessfulSample {
  return sample.outcome === 'ok';
}

/** Failures by exit status, most often first. */
function failuresOf(samples: readonly Sample[]): LookupTrial['samples']['failed'] {
  const counts = new Map<number | null, number>();
  for (const sample of samples) {
    if (isSuccessful(sample)) continue;
    counts.set(sample.exitCode, (counts.get(sample.exitCode) ?? 0) + 1);
  }
  return [...counts].map(([exitCode, count]) => ({ exitCode, count })).sort((a, b) => b.count - a.count);
}

function firstOf({ samples: [first], isCold }: SamplerOutput): LookupTrial['samplers'][number]['first'] {
  if (!isCold || first === undefined || !isSuccessful(first)) return null;
  const { lookup, connect } = first.phases;
  return { lookup, connect };
}

/** Half of the samples or more must succeed. */
const MIN_SUCCESS = 0.5;

function failureOf({ taken, succeeded, failed }: LookupTrial['samples'], isComplete: boolean): string | null {
  if (taken === 0) return isComplete ? 'no sample was taken' : 'the sampler ended before its first sample';
  if (succeeded >= taken * MIN_SUCCESS) return isComplete ? null : 'the sampler ended early';
  const [commonest] = failed;
  const why = commonest === undefined ? '' : `; most often exit status ${exitText(commonest.exitCode)}`;
  return `${taken - succeeded} of ${taken} samples failed${why}`;
}

export function trialOf({ head, samplers, packets, kernel }: TrialParts): LookupTrial {
  const samples = samplers.flatMap((sampler) => sampler.samples);
  const ok = samples.filter(isSuccessful);
  const counts = { taken: samples.length, succeeded: ok.length, failed: failuresOf(samples) };
  return {
    ...head,
    failure: failureOf(
      counts,
      samplers.every(({ isComplete }) => isComplete),
    ),
    samplers: samplers.map((sampler) => ({
      name: sampler.name,
      node: sampler.node,
      samples: sampler.samples.length,
      first: firstOf(sampler),
    })),
    samples: counts,
    phases: phaseDistributions(ok.map(({ phases }) => phases)),
    families: {
      ipv4: ok.filter(({ address }) => isIP(address) === 4).length,
      ipv6: ok.filter(({ address }) => isIP(address) === 6).length,
    },
    packets,
    kernel,
  };
}

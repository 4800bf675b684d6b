/** Results of each subject, from its trials. Pure. */
import { binomialInterval } from '../../stats/binomial.ts';
import { summarize } from '../../stats/summarize.ts';
import { distributionOf, percentileOf, phaseDistributions } from './distribution.ts';
import { type LookupResult, type LookupTrial, RESULT_PERCENTILES, type Subject } from './record.ts';
import { PHASES, type Phases } from './sampling/sample.ts';

/** Tolerances of the ground truth: 2 ms, or 5 % of the prediction if that is more. */
const TOLERANCE_SECONDS = 0.002;
const TOLERANCE_RATIO = 0.05;

/** The phases of all samples that succeeded in trials that count, by subject. */
export type Pooled = ReadonlyMap<string, readonly Phases[]>;

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function failedSamples(trials: readonly LookupTrial[]): LookupResult['samples']['failed'] {
  const counts = new Map<number | null, number>();
  for (const { exitCode, count } of trials.flatMap(({ samples }) => samples.failed)) {
    counts.set(exitCode, (counts.get(exitCode) ?? 0) + count);
  }
  return [...counts].map(([exitCode, count]) => ({ exitCode, count })).sort((a, b) => b.count - a.count);
}

function percentilesOf(trials: readonly LookupTrial[]): LookupResult['percentiles'] {
  return PHASES.flatMap((phase) =>
    RESULT_PERCENTILES.flatMap((percentile) => {
      const values = trials.flatMap(({ phases }) =>
        phases === null ? [] : percentileOf(phases[phase], percentile),
      );
      return values.length === 0 ? [] : [{ phase, percentile, seconds: summarize(values) }];
    }),
  );
}

/** Of a namespace of its own, the kernel's counters must be those of the capture; null where that says nothing. */
function kernelAgrees(trials: readonly LookupTrial[]): boolean | null {
  const comparable = trials.flatMap(({ packets, kernel }) =>
    packets?.isWhole === true && kernel?.scope === 'namespace' ? [{ packets, kernel }] : [],
  );
  if (comparable.length === 0) return null;
  return comparable.every(({ packets: { handshakes }, kernel: { syn, synAck } }) => {
    const sameSyn = syn === null || syn === handshakes.duplicateSyn;
    return sameSyn && (synAck === null || synAck === handshakes.duplicateSynAck);
  });
}

function duplicatesOf(trials: readonly LookupTrial[]): LookupResult['duplicates'] {
  const seen = trials.flatMap(({ packets }) => (packets === null ? [] : [packets.handshakes]));
  if (seen.length === 0) return null;
  const total = (of: (handshakes: (typeof seen)[number]) => number) => sum(seen.map(of));
  const connections = total((each) => each.connections);
  const connectionsRepeated = total((each) => each.connectionsRepeated);
  return {
    connections,
    connectionsRepeated,
    duplicateSyn: total((each) => each.duplicateSyn),
    duplicateSynAck: total((each) => each.duplicateSynAck),
    tigerRule: {
      duplicateSyn: total((each) => each.tigerRule.duplicateSyn),
      duplicateSynAck: total((each) => each.tigerRule.duplicateSynAck),
    },
    share:
      connections === 0
        ? null
        : { value: connectionsRepeated / connections, ...binomialInterval(connectionsRepeated, connections) },
    kernelAgrees: kernelAgrees(trials),
  };
}

function queriesPerLookup(trials: readonly LookupTrial[]): number | null {
  const seen = trials.filter(({ packets }) => packets?.searches != null);
  const samples = sum(seen.map(({ samples }) => samples.taken));
  return samples === 0 ? null : sum(seen.map(({ packets }) => packets?.searches?.queries ?? 0)) / samples;
}

function within(measured: number, predicted: number): boolean {
  const tolerance = Math.max(TOLERANCE_SECONDS, predicted * TOLERANCE_RATIO);
  return Math.abs(measured - predicted) <= tolerance;
}

/** `untouched`: the medians of a subject of the same resolver and client to which the simulation adds nothing. */
function agreementOf(
  { prediction }: Subject,
  result: Omit<LookupResult, 'agreement'>,
  untouched: Pick<LookupResult, 'phases'> | undefined,
): LookupResult['agreement'] {
  const { phases, duplicates } = result;
  if (prediction === null || phases === null) return null;
  const added = (phase: 'lookup' | 'connect') => {
    const base = untouched?.phases?.[phase];
    return percentileOf(phases[phase], 50) - (base === undefined ? 0 : percentileOf(base, 50));
  };
  const [lookupSeconds, connectSeconds] = [added('lookup'), added('connect')];
  return {
    lookupSeconds,
    connectSeconds,
    timesAgree:
      within(lookupSeconds, prediction.lookupSeconds) && within(connectSeconds, prediction.connectSeconds),
    duplicatesAgree:
      duplicates === null
        ? null
        : duplicates.duplicateSyn === duplicates.connections * prediction.duplicateSyn,
  };
}

function isUntouched({ prediction }: Subject): boolean {
  return prediction !== null && prediction.lookupSeconds === 0 && prediction.connectSeconds === 0;
}

function firstOf(trials: readonly LookupTrial[]): LookupResult['first'] {
  const first = trials.flatMap(({ samplers }) => samplers.flatMap((sampler) => sampler.first ?? []));
  const lookup = distributionOf(first.map((each) => each.lookup));
  const connect = distributionOf(first.map((each) => each.connect));
  return lookup === null || connect === null ? null : { lookup, connect };
}

function resultOf(
  { key }: Subject,
  all: readonly LookupTrial[],
  pooled: Pooled,
): Omit<LookupResult, 'agreement'> {
  const own = all.filter(({ subject }) => subject === key);
  const trials = own.filter(({ failure }) => failure === null);
  const taken = sum(trials.map(({ samples }) => samples.taken));
  // With a pod for each sample, the pods of a node follow one another.
  const nodesOf = ({ samplers }: LookupTrial) => new Set(samplers.map(({ node }) => node)).size;
  const samplerSeconds = sum(trials.map((trial) => trial.seconds * nodesOf(trial)));
  return {
    subject: key,
    trials: trials.length,
    failedTrials: own.length - trials.length,
    samples: {
      taken,
      succeeded: sum(trials.map(({ samples }) => samples.succeeded)),
      failed: failedSamples(trials),
    },
    phases: phaseDistributions(pooled.get(key) ?? []),
    percentiles: percentilesOf(trials),
    first: firstOf(trials),
    samplesPerMinute: samplerSeconds === 0 ? 0 : (taken / samplerSeconds) * 60,
    duplicates: duplicatesOf(trials),
    queriesPerLookup: queriesPerLookup(trials),
    families: {
      ipv4: sum(trials.map(({ families }) => families.ipv4)),
      ipv6: sum(trials.map(({ families }) => families.ipv6)),
    },
  };
}

/** The results of all subjects, in their order; `pooled` only has samples of trials that count. */
export function resultsOf(
  subjects: readonly Subject[],
  trials: readonly LookupTrial[],
  pooled: Pooled,
): LookupResult[] {
  const results = subjects.map((subject) => ({ subject, result: resultOf(subject, trials, pooled) }));
  return results.map(({ subject, result }) => {
    const untouched = results.find(
      (other) =>
        isUntouched(other.subject) &&
        other.subject.resolver === subject.resolver &&
        other.subject.client === subject.client,
    );
    return { ...result, agreement: agreementOf(subject, result, untouched?.result) };
  });
}

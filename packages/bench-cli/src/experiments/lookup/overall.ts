/** All trials of a subject that succeeded, taken together: what tables, charts and other formats show of them. Pure. */
import { evidencesOf } from '../../engine/record.ts';
import { binomialInterval } from '../../stats/binomial.ts';
import { sum } from '../../stats/intervals.ts';
import { added } from './capture/merge.ts';
import { distributionOf, mergedDistribution, ofEachPhase } from './distribution.ts';
import type { Distribution, LookupEvidence, LookupRecord, Packets, PhaseDistributions } from './evidence.ts';
import { type LookupSubject, subjectsOf } from './subjects.ts';
import { addedFailures } from './trial.ts';

type Handshakes = Packets['handshakes'];

export interface Repeated extends Handshakes {
  /** Of the connections whose SYN was repeated, with the exact 95 % interval of Clopper and Pearson; null without any. */
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
  /** Whether the kernel counted the same; null where its counter says nothing about these packets alone. */
  readonly kernelAgrees: boolean | null;
}

export interface Overall {
  readonly subject: LookupSubject;
  readonly title: string;
  /** In the order of their rounds. */
  readonly evidence: readonly LookupEvidence[];
  readonly trials: { readonly ok: number; readonly failed: number };
  readonly samples: LookupEvidence['samples'];
  /** Null without a trial that succeeded. */
  readonly phases: PhaseDistributions | null;
  /** Of samples before which their pod had asked nothing; null without any. */
  readonly first: { readonly lookup: Distribution; readonly connect: Distribution } | null;
  /** Of each node. */
  readonly samplesPerMinute: number;
  /** Null without a capture. */
  readonly repeated: Repeated | null;
  /** DNS queries for each sample; null without a capture. */
  readonly queriesPerLookup: number | null;
  readonly families: LookupEvidence['families'];
}

/** Of a namespace of its own, the kernel's counters must be those of the capture. */
function kernelAgrees(trials: readonly LookupEvidence[]): boolean | null {
  const comparable = trials.flatMap(({ packets, kernel }) =>
    packets?.isWhole === true && kernel.scope === 'namespace' ? [{ packets, kernel }] : [],
  );
  if (comparable.length === 0) return null;
  return comparable.every(({ packets: { handshakes }, kernel: { syn, synAck } }) => {
    const sameSyn = syn === null || syn === handshakes.duplicateSyn;
    return sameSyn && (synAck === null || synAck === handshakes.duplicateSynAck);
  });
}

function repeatedOf(trials: readonly LookupEvidence[]): Repeated | null {
  const seen = trials.flatMap(({ packets }) => (packets === null ? [] : [packets.handshakes]));
  if (seen.length === 0) return null;
  const total = added(seen);
  const { connections, connectionsRepeated } = total;
  return {
    ...total,
    share:
      connections === 0
        ? null
        : { value: connectionsRepeated / connections, ...binomialInterval(connectionsRepeated, connections) },
    kernelAgrees: kernelAgrees(trials),
  };
}

function firstOf(trials: readonly LookupEvidence[]): Overall['first'] {
  const first = trials.flatMap(({ samplers }) => samplers.flatMap((sampler) => sampler.first ?? []));
  const lookup = distributionOf(first.map((each) => each.lookup));
  const connect = distributionOf(first.map((each) => each.connect));
  return lookup === null || connect === null ? null : { lookup, connect };
}

function phasesOf(trials: readonly LookupEvidence[]): PhaseDistributions | null {
  return trials.length === 0
    ? null
    : ofEachPhase((phase) => mergedDistribution(trials.map(({ phases }) => phases[phase])));
}

function overallOf(record: LookupRecord, subject: LookupSubject): Overall {
  const { name, title } = subject;
  const evidence = evidencesOf(record, name);
  const failed = record.trials.filter((trial) => trial.case === name && trial.status === 'failed').length;
  const taken = sum(evidence.map(({ samples }) => samples.taken));
  const captured = evidence.filter(({ packets }) => packets?.searches != null);
  const asked = sum(captured.map(({ samples }) => samples.taken));
  const queries = sum(captured.map(({ packets }) => packets?.searches?.queries ?? 0));
  // With a pod for each sample, the pods of a node follow one another.
  const nodesOf = ({ samplers }: LookupEvidence) => new Set(samplers.map(({ node }) => node)).size;
  const samplerSeconds = sum(evidence.map((trial) => trial.seconds * nodesOf(trial)));
  return {
    ...{ subject, title, evidence },
    trials: { ok: evidence.length, failed },
    samples: {
      taken,
      succeeded: sum(evidence.map(({ samples }) => samples.succeeded)),
      failed: addedFailures(evidence.flatMap(({ samples }) => samples.failed)),
    },
    phases: phasesOf(evidence),
    first: firstOf(evidence),
    samplesPerMinute: samplerSeconds === 0 ? 0 : (taken / samplerSeconds) * 60,
    repeated: repeatedOf(evidence),
    queriesPerLookup: asked === 0 ? null : queries / asked,
    families: {
      ipv4: sum(evidence.map(({ families }) => families.ipv4)),
      ipv6: sum(evidence.map(({ families }) => families.ipv6)),
    },
  };
}

/** In the order of the subjects, without the twin of `--aa`. */
export function overallsOf(record: LookupRecord): Overall[] {
  return subjectsOf(record.settings).map((subject) => overallOf(record, subject));
}

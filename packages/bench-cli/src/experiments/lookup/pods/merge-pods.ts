/** From the results of the pods of a trial to its evidence. Pure. */
import type { PodCapture } from '../capture/capture-program.ts';
import type { LookupEvidence, Packets } from '../evidence.ts';
import { evidenceOf } from '../trial.ts';
import type { PodResult } from './sample-in-pods.ts';

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** As many as a single capture keeps. */
const MAX_QUESTIONS = 20;

function questionsOf(captures: readonly PodCapture[]): PodCapture['searches']['questions'] {
  const all = captures.flatMap(({ searches }) => searches.questions);
  const groups = Map.groupBy(all, ({ name, type }) => `${name} ${type}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      return first === undefined ? [] : [{ ...first, queries: sum(group.map(({ queries }) => queries)) }];
    })
    .toSorted((a, b) => b.queries - a.queries)
    .slice(0, MAX_QUESTIONS);
}

/** Each capture saw the packets of its own pod only. Null if one of them did not say what it saw. */
export function mergeCaptures(captures: readonly PodCapture[]): Packets | null {
  const counters = captures.flatMap(({ counters: own }) => own ?? []);
  if (captures.length === 0 || counters.length < captures.length) return null;
  const total = (of: (capture: PodCapture) => number) => sum(captures.map(of));
  const capture = {
    interfaces: [...new Set(captures.map((each) => each.interface))],
    captured: sum(counters.map(({ captured }) => captured)),
    received: sum(counters.map(({ received }) => received)),
    dropped: sum(counters.map(({ dropped }) => dropped)),
  };
  return {
    handshakes: {
      connections: total(({ handshakes }) => handshakes.connections),
      connectionsRepeated: total(({ handshakes }) => handshakes.connectionsRepeated),
      syn: {
        ipv4: total(({ handshakes }) => handshakes.syn.ipv4),
        ipv6: total(({ handshakes }) => handshakes.syn.ipv6),
        ecn: total(({ handshakes }) => handshakes.syn.ecn),
      },
      synAck: {
        ipv4: total(({ handshakes }) => handshakes.synAck.ipv4),
        ipv6: total(({ handshakes }) => handshakes.synAck.ipv6),
      },
      duplicateSyn: total(({ handshakes }) => handshakes.duplicateSyn),
      duplicateSynAck: total(({ handshakes }) => handshakes.duplicateSynAck),
      tigerRule: {
        duplicateSyn: total(({ handshakes }) => handshakes.tigerRule.duplicateSyn),
        duplicateSynAck: total(({ handshakes }) => handshakes.tigerRule.duplicateSynAck),
      },
    },
    searches: {
      queries: total(({ searches }) => searches.queries),
      repeated: total(({ searches }) => searches.repeated),
      questions: questionsOf(captures),
    },
    capture,
    isWhole: capture.dropped === 0 && capture.captured === capture.received,
  };
}

/** @param isCold Whether the pods had asked nothing before their first samples. */
export function evidenceOfPods(pods: readonly PodResult[], seconds: number, isCold: boolean): LookupEvidence {
  const repeats = pods.flatMap(({ sampled }) => sampled.kernelRepeats ?? []);
  return evidenceOf({
    seconds,
    samplers: pods.map(({ sampled, pod, node }) => ({ ...sampled, name: pod, node, isCold })),
    packets: mergeCaptures(pods.flatMap(({ capture }) => capture ?? [])),
    kernel: {
      syn: repeats.length < pods.length ? null : sum(repeats),
      // The other side is behind a Service.
      synAck: null,
      scope: 'namespace',
    },
    prediction: null,
  });
}

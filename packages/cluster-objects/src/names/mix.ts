/**
 * The workload `internal`: what applications in a cluster ask, in a stated mix. Each kind goes through all its names
 * before it repeats one, in an order without neighbours, so that the number of distinct names is what was asked for.
 */
import type { Cluster } from '../cluster/cluster.ts';
import { ClusterError } from '../errors.ts';
import {
  memberQuestion,
  podPointerQuestion,
  podQuestion,
  servicePointerQuestion,
  serviceQuestion,
  srvQuestion,
} from './internal.ts';
import type { Question } from './question.ts';

/**
 * Shares of the kinds of questions, in percent: resolvers ask A and AAAA together, but many applications only A; the rest is
 * what stateful sets, service discovery and log files ask.
 */
export const INTERNAL_MIX = {
  /** A of a service with an address. */
  serviceA: 45,
  /** AAAA of such a service; no records unless the cluster is dual-stack. */
  serviceAaaa: 25,
  /** A of a headless service: all its pods. */
  headless: 10,
  /** A of one pod of a headless service. */
  member: 5,
  /** SRV of a service's port. */
  srv: 5,
  /** A of a pod by its address. */
  pod: 4,
  /** PTR of a service's address. */
  servicePtr: 3,
  /** PTR of a pod's address. */
  podPtr: 3,
} as const;

type QuestionKind = keyof typeof INTERNAL_MIX;

/** Addresses in an answer of 512 bytes, the most that a client without EDNS takes: 16 bytes each after a name of 60. */
const MAX_ADDRESSES = 27;

/** A prime above every number of objects: its multiples visit all of them before any repeats. */
const STRIDE = 15_485_863;

interface Source {
  readonly count: number;
  question(index: number): Question;
}

function sourcesOf(cluster: Cluster): Readonly<Record<QuestionKind, Source>> {
  const { spec, headlessServices: headless } = cluster;
  const withAddress = spec.services - headless;
  const inService = Math.min(spec.pods, spec.endpoints);
  const service = (n: number) => cluster.service(cluster.nthService(false, n));
  const headlessService = (n: number) => cluster.service(cluster.nthService(true, n));
  const isLarge = spec.endpoints / spec.services > MAX_ADDRESSES;
  const headlessWithMembers = spec.endpoints >= spec.services ? headless : 0;
  return {
    serviceA: { count: withAddress, question: (n) => serviceQuestion(cluster, service(n), 'A') },
    serviceAaaa: { count: withAddress, question: (n) => serviceQuestion(cluster, service(n), 'AAAA') },
    headless: {
      // With more pods than fit into a datagram, every answer would be truncated.
      count: isLarge ? 0 : headlessWithMembers,
      question: (n) => serviceQuestion(cluster, headlessService(n), 'A'),
    },
    member: {
      count: headlessWithMembers,
      question(n) {
        const found = headlessService(n);
        return memberQuestion(cluster, found, n % found.endpointCount, 'A');
      },
    },
    srv: { count: withAddress, question: (n) => srvQuestion(cluster, service(n)) },
    pod: { count: spec.pods, question: (n) => podQuestion(cluster, cluster.pod(n)) },
    servicePtr: { count: withAddress, question: (n) => servicePointerQuestion(cluster, service(n)) },
    podPtr: { count: inService, question: (n) => podPointerQuestion(cluster, cluster.pod(n)) },
  };
}

/**
 * `count` questions in the mix; kinds that the cluster has no names for are left out. Every prefix of the list has
 * the mix as closely as its length allows. @throws ClusterError `E_CLUSTER` if nothing is left.
 */
export function internalQuestions(cluster: Cluster, count: number): Question[] {
  const sources = Object.entries(sourcesOf(cluster)) as [QuestionKind, Source][];
  const kinds = sources
    .filter(([, source]) => source.count > 0)
    .map(([kind, source]) => ({ source, share: INTERNAL_MIX[kind], asked: 0 }));
  if (kinds.length === 0) {
    const problem = `a cluster with ${cluster.spec.services} services and ${cluster.spec.pods} pods has no names for this mix`;
    throw new ClusterError('E_CLUSTER', problem, 'give more services');
  }
  return Array.from({ length: count }, () => {
    // The kind that is furthest behind its share.
    const kind = kinds.reduce((most, other) => (lag(other) < lag(most) ? other : most));
    const index = (kind.asked++ * STRIDE) % kind.source.count;
    return kind.source.question(index);
  });
}

/** When a kind is due next, in shares. */
function lag({ share: part, asked }: { readonly share: number; readonly asked: number }): number {
  return (asked + 0.5) / part;
}

/** The workloads of a generated cluster: `internal`, its own names, and `external`, names that it forwards. */
import {
  type AnswerRecord,
  type Cluster,
  externalQuestions,
  type Question,
  type Service,
  serviceQuestion,
} from '@dinodns-bench/cluster-objects';
import type { Query } from '@dinodns-bench/zones';
import { BenchError } from '../errors.ts';
import {
  CLUSTER,
  EXTERNAL,
  ownQuestions,
  QUESTIONS,
  UPSTREAM_DELAY_SECONDS,
} from '../servers/coredns-cluster/cluster.ts';
import { type LookupOptions, lookupWorkload } from './lookup.ts';
import type { BenchWorkload, Expectation } from './workload.ts';

/** What a pod of the cluster's first namespace looks up: its own services, and names outside the cluster. */
const LOOKUPS = ['lookup-internal', 'lookup-external'] as const;

/** The names of these workloads. */
export const GENERATED_CLUSTER_WORKLOADS: readonly string[] = ['internal', 'external', ...LOOKUPS];

/** Each is five queries, which are checked before every trial. */
const LOOKED_UP = 400;

const keyOf = ({ name, type }: Query) => `${name} ${type}`;

/** The data in the shape of the DNS client. */
function decodedData({ type, data }: AnswerRecord): unknown {
  if (type !== 'SRV') return data;
  const [priority, weight, port, target] = data.split(' ');
  return { priority: Number(priority), weight: Number(weight), port: Number(port), target };
}

function expectationOf({ name, type, expected }: Question): Expectation {
  const records = expected.answers.map((answer) => ({ type: answer.type, data: decodedData(answer) }));
  return { query: { name, type }, code: expected.rcode, records };
}

function workloadOf(name: string, description: string, questions: readonly Question[]): BenchWorkload {
  const expectations = new Map(questions.map((question) => [keyOf(question), expectationOf(question)]));
  const queries = () => Array.from(expectations.values(), ({ query }) => query);
  return {
    name,
    description,
    size: expectations.size,
    queries,
    // A cluster can have fewer names of a kind than its share of the questions.
    sequence: () => questions.map(({ name: asked, type }) => ({ name: asked, type })),
    expectation: (query) => expectations.get(keyOf(query)) ?? null,
  };
}

const MIX =
  'A 45 %, AAAA 25 %, A of headless services 10 % and of their pods 5 %, SRV 5 %, pods by address 4 %, PTR 6 %';

/** What the cluster and its upstream know of a name; addresses only. */
function addressQuestion(
  cluster: Cluster,
  services: ReadonlyMap<string, Service>,
  { name, type }: Query,
): Question {
  const family = type === 'AAAA' ? 'AAAA' : 'A';
  const service = services.get(name);
  if (service !== undefined) return serviceQuestion(cluster, service, family);
  const addresses = EXTERNAL.addressesOf(name);
  if (addresses === null) return { name, type: family, expected: { rcode: 'NXDOMAIN', answers: [] } };
  const answers = addresses
    .filter((address) => address.includes(':') === (family === 'AAAA'))
    .map((data) => ({ type: family, data }) as const);
  return { name, type: family, expected: { rcode: 'NOERROR', answers } };
}

/** Services of the first namespace that have addresses, by their whole names. */
function servicesOf(cluster: Cluster): Map<string, Service> {
  const namespace = cluster.namespaceName(0);
  const found = new Map<string, Service>();
  for (let index = 0; index < cluster.spec.services; index += 1) {
    const service = cluster.service(index);
    if (service.namespace === namespace && !service.headless)
      found.set(`${service.name}.${namespace}.svc.${cluster.spec.domain}`, service);
  }
  return found;
}

/** Which names are looked up. */
export type LookupKind = 'internal' | 'external';

export interface ClusterLookups {
  readonly cluster: Cluster;
  readonly kind: LookupKind;
  /** How many names, as far as there are that many. */
  readonly names: number;
}

/** Lookups as the resolver of a pod in the cluster's first namespace makes them. */
export function clusterLookups(
  name: string,
  { cluster, kind, names }: ClusterLookups,
  options: LookupOptions,
): BenchWorkload {
  const services = servicesOf(cluster);
  const [found, what] =
    kind === 'internal'
      ? [
          Array.from(services.values(), (service) => service.name).slice(0, names),
          `services of the pod's own namespace`,
        ]
      : [Array.from({ length: names }, (_, index) => EXTERNAL.name(index)), 'names outside the cluster'];
  return {
    ...lookupWorkload(name, found, what, options, cluster.namespaceName(0)),
    expectation: (query) => expectationOf(addressQuestion(cluster, services, query)),
  };
}

/** Lookups as a pod's resolver makes them; null if there is no workload of this name. */
export function generatedClusterLookup(name: string, options: LookupOptions): BenchWorkload | null {
  if (!LOOKUPS.some((known) => known === name)) return null;
  const kind = name === 'lookup-internal' ? 'internal' : 'external';
  const names = kind === 'internal' ? Number.POSITIVE_INFINITY : LOOKED_UP;
  return clusterLookups(name, { cluster: CLUSTER, kind, names }, options);
}

/** Null if there is no workload of this name. */
export function generatedClusterWorkload(name: string): BenchWorkload | null {
  if (name === 'internal') {
    const { services, pods } = CLUSTER.spec;
    const size = `${services} services and ${pods.toLocaleString('en')} pods`;
    return workloadOf(name, `names of a cluster with ${size}: ${MIX}`, ownQuestions());
  }
  if (name !== 'external') return null;
  const upstream = `an upstream that answers after ${UPSTREAM_DELAY_SECONDS * 1000} ms`;
  return workloadOf(
    name,
    `names outside the cluster, type A, from ${upstream}`,
    externalQuestions(EXTERNAL, QUESTIONS),
  );
}

/**
 * `count` names outside the cluster, type A, from this one on: each is sent once, so that no cache has it.
 * @throws BenchError `E_CONFIG` for more names than the upstream has
 */
export function externalNames(name: string, first: number, count: number): BenchWorkload {
  const most = EXTERNAL.spec.names - first;
  const written = count.toLocaleString('en');
  if (count > most)
    throw new BenchError('E_CONFIG', `${written} queries are more than the upstream has names`, {
      fix: `Send fewer, at a lower --rate or for less time: each name is asked once, and there are ${most.toLocaleString('en')}.`,
    });
  const questions = Array.from({ length: count }, (_, index) =>
    addressQuestion(CLUSTER, new Map(), { name: EXTERNAL.name(first + index), type: 'A' }),
  );
  return workloadOf(name, `${written} names outside the cluster, type A, each once`, questions);
}

/** The workloads of a generated cluster: `internal`, its own names, and `external`, names that it forwards. */
import {
  type AnswerRecord,
  externalQuestions,
  internalQuestions,
  type Question,
} from '@dinodns-bench/cluster-objects';
import type { Query } from '@dinodns-bench/zones';
import { CLUSTER, EXTERNAL, UPSTREAM_DELAY_SECONDS } from '../servers/coredns-cluster/cluster.ts';
import type { BenchWorkload, Expectation } from './workload.ts';

/** All of them fit into CoreDNS's cache (9,984 entries), and each is checked before every trial. */
const QUESTIONS = 2000;

/** The names of these workloads. */
export const GENERATED_CLUSTER_WORKLOADS: readonly string[] = ['internal', 'external'];

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

/** Null if there is no workload of this name. */
export function generatedClusterWorkload(name: string): BenchWorkload | null {
  if (name === 'internal') {
    const { services, pods } = CLUSTER.spec;
    const size = `${services} services and ${pods.toLocaleString('en')} pods`;
    return workloadOf(name, `names of a cluster with ${size}: ${MIX}`, internalQuestions(CLUSTER, QUESTIONS));
  }
  if (name !== 'external') return null;
  const upstream = `an upstream that answers after ${UPSTREAM_DELAY_SECONDS * 1000} ms`;
  return workloadOf(
    name,
    `names outside the cluster, type A, from ${upstream}`,
    externalQuestions(EXTERNAL, QUESTIONS),
  );
}

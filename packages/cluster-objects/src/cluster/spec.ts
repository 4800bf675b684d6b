/** The description of a cluster: a small plain record, with the first published size as its default. */
import { type Problem, suggestion } from '@dinodns-bench/program';
import { z } from 'zod';
import { ClusterError } from '../errors.ts';

/** More than any cluster has; the ranges of addresses have room for them. */
const MAX_OBJECTS = 1_000_000;

export const clusterSpecSchema = z.strictObject({
  /** 1 to 10,000; default 50. */
  namespaces: z.int().min(1).max(10_000).default(50),
  /** 0 to 1,000,000; default 820, as in the smallest published measurement ("Scaling CoreDNS in Kubernetes Clusters"). */
  services: z.int().min(0).max(MAX_OBJECTS).default(820),
  /** 0 to 1,000,000; default 15,000, as there. */
  pods: z.int().min(0).max(MAX_OBJECTS).default(15_000),
  /**
   * Addresses of all services together, 0 to 10,000,000, spread evenly over the services. Default: every pod backs one
   * service. If there are more, a pod backs several.
   */
  endpoints: z.int().min(0).max(10_000_000).optional(),
  /** Which part of the services has no address of its own, 0 to 1; default 0.1. Their pods are stateful sets'. */
  headless: z.number().min(0).max(1).default(0.1),
  /** Whether everything has an IPv6 address as well; default false. */
  dualStack: z.boolean().default(false),
  /** For the random part of names and ids, 0 to 4,294,967,295; default 1. */
  seed: z.int().min(0).max(0xffff_ffff).default(1),
  /** Name of the cluster's zone; default `cluster.local`. */
  domain: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){0,5}$/)
    .max(100)
    .default('cluster.local'),
});

export type ClusterInput = z.input<typeof clusterSpecSchema>;
/** A complete description. */
export type ClusterSpec = Readonly<
  Omit<z.output<typeof clusterSpecSchema>, 'endpoints'> & { readonly endpoints: number }
>;

const HELP: Readonly<Record<keyof ClusterSpec, string>> = {
  namespaces: 'give a whole number from 1 to 10,000',
  services: 'give a whole number from 0 to 1,000,000',
  pods: 'give a whole number from 0 to 1,000,000',
  endpoints: 'give a whole number from 0 to 10,000,000, or omit it: every pod then backs one service',
  headless: 'give a number from 0 to 1',
  dualStack: 'give true or false',
  seed: 'give a whole number from 0 to 4,294,967,295',
  domain: 'give a domain name in lower case, such as cluster.local',
};

/** Any value, as a user would write it. */
function shown(value: unknown): string {
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
}

function problemsOf(error: z.ZodError, help: Readonly<Record<string, string>>): Problem[] {
  const known = Object.keys(help);
  const problems = error.issues.flatMap((issue): Problem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ problem: `unknown key "${key}"`, fix: suggestion(key, known) }));
    }
    const key = String(issue.path[0] ?? '');
    if (key === '')
      return [
        { problem: `${shown(issue.input)} is not an object`, fix: `give one with ${known.join(', ')}` },
      ];
    return [{ problem: `${key} cannot be ${shown(issue.input)}`, fix: help[key] ?? 'give another value' }];
  });
  // A value can break two rules, which is one problem.
  return [...new Map(problems.map((found) => [found.problem, found])).values()];
}

/** Parses with `schema`. @throws ClusterError `E_CLUSTER` with all problems. */
export function parseRecord<Output>(
  schema: z.ZodType<Output>,
  input: unknown,
  subject: string,
  help: Readonly<Record<string, string>>,
): Output {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  throw new ClusterError('E_CLUSTER', `${subject} is not valid`, problemsOf(result.error, help));
}

/** The complete description; without input the default one. @throws ClusterError `E_CLUSTER`. */
export function parseClusterSpec(input: ClusterInput = {}): ClusterSpec {
  const spec = parseRecord(clusterSpecSchema, input, 'the cluster', HELP);
  const possible = spec.services === 0 ? 0 : spec.pods;
  const endpoints = spec.endpoints ?? possible;
  if (endpoints > 0 && possible === 0) {
    const problem = `${endpoints} endpoints need services and pods, but there are ${spec.services} services and ${spec.pods} pods`;
    throw new ClusterError('E_CLUSTER', problem, 'give at least one service and one pod, or no endpoints');
  }
  return { ...spec, endpoints };
}

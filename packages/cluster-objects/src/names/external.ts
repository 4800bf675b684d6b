/** Names outside the cluster, which exist by a rule: the upstream knows them without a list, and so does a check. */
import { z } from 'zod';
import { dotted, dottedToNumber, groups } from '../cluster/addresses.ts';
import { parseRecord } from '../cluster/spec.ts';
import { addressesAs, NO_SUCH_NAME, type Question } from './question.ts';

const externalSpecSchema = z.strictObject({
  /** How many names exist: `www0.example.org` to `www999999.example.org`. 1 to 1,000,000; default 1,000,000. */
  names: z.int().min(1).max(1_000_000).default(1_000_000),
  /** The domain below which they are; default `example.org`, which RFC 2606 reserves. */
  domain: z
    .string()
    .regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
    .max(200)
    .default('example.org'),
  /** Further names, in lower case and without a trailing dot, with their IPv4 and IPv6 addresses; default: none. */
  hosts: z
    .record(z.string().min(1).max(253), z.array(z.union([z.ipv4(), z.ipv6()])))
    .readonly()
    .default({}),
});

export type ExternalInput = z.input<typeof externalSpecSchema>;
export type ExternalSpec = Readonly<z.output<typeof externalSpecSchema>>;

const HELP = {
  names: 'give a whole number from 1 to 1,000,000',
  domain: 'give a domain name in lower case, such as example.org',
  hosts: 'give names with lists of IP addresses',
};

/** 198.18.0.0/15, which RFC 2544 sets aside for benchmarks, has this many addresses; names share them. */
const BENCHMARK_ADDRESSES = 2 ** 17;

export interface External {
  readonly spec: ExternalSpec;
  /** The name with a number from 0 to `names` − 1; larger numbers give names that do not exist. */
  name(index: number): string;
  /** The addresses of a name in lower case and without a trailing dot; null if it does not exist. */
  addressesOf(name: string): readonly string[] | null;
}

function addressesFor(index: number): readonly string[] {
  const v4 = dotted(dottedToNumber(198, 18) + (index % BENCHMARK_ADDRESSES));
  return [v4, `2001:db8::${groups(index + 1)}`];
}

/** @throws ClusterError `E_CLUSTER` */
export function defineExternal(input: ExternalInput = {}): External {
  const spec = parseRecord(externalSpecSchema, input, 'the description of external names', HELP);
  const ending = `.${spec.domain}`;
  return {
    spec,
    name: (index) => `www${index}${ending}`,
    addressesOf(name) {
      if (Object.hasOwn(spec.hosts, name)) return spec.hosts[name] ?? [];
      if (name === spec.domain) return [];
      if (!name.endsWith(ending)) return null;
      const number = /^www(0|[1-9]\d{0,6})$/.exec(name.slice(0, -ending.length))?.[1];
      return number !== undefined && Number(number) < spec.names ? addressesFor(Number(number)) : null;
    },
  };
}

/** The name with a number, as `External.name` has it. */
export function externalQuestion(external: External, index: number, type: 'A' | 'AAAA'): Question {
  const name = external.name(index);
  const addresses = external.addressesOf(name);
  return { name, type, expected: addresses === null ? NO_SUCH_NAME : addressesAs(type, addresses) };
}

/**
 * The workload `external`: `count` questions, each for another name until there are no more. All are of type A, as in the published
 * measurements.
 */
export function externalQuestions(external: External, count: number): Question[] {
  return Array.from({ length: count }, (_, at) => externalQuestion(external, at % external.spec.names, 'A'));
}

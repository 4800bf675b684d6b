/** Turns user input into consistent options; all problems are reported at once. */
import type { Problem } from '@dinodns-bench/program';
import type { z } from 'zod';
import { ALL_IDS } from './engine/in-flight.ts';
import { LoadError } from './errors.ts';
import { type CannonInput, type CannonOptions, optionsSchema } from './options.ts';
import { many } from './report/numbers.ts';

/** Throws `LoadError` (`E_OPTIONS`) with all problems. */
export function checkOptions(input: CannonInput): CannonOptions {
  return checked(optionsSchema, input, crossProblems);
}

/** What a schema makes of options; `together` finds contradictions. Throws `LoadError` (`E_OPTIONS`) with all problems. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  together: (options: z.output<Schema>) => Problem[],
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  const problems = parsed.success ? together(parsed.data) : parsed.error.issues.map(problemOf);
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new LoadError('E_OPTIONS', problems);
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = typeof value === 'number' || typeof value === 'bigint' ? String(value) : JSON.stringify(value);
  return (text ?? String(value)).slice(0, 80);
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const where = path === '' ? '' : ` in ${path}`;
    return {
      problem: `unknown option ${issue.keys.join(', ')}${where}`,
      fix: 'remove it, or correct the spelling',
    };
  }
  const name = path === '' ? 'the options' : path;
  const problem =
    issue.input === undefined ? `${name} is missing` : `${name} cannot be ${shown(issue.input)}`;
  return { problem, fix: fixOf(issue) };
}

function fixOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return `give ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${issue.origin === 'array' ? ' of them' : ''}`;
    case 'too_big':
      return `give at most ${issue.maximum}`;
    case 'invalid_value':
      return `use one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_type':
      return `give ${issue.expected === 'int' ? 'a whole number' : `a value of type ${issue.expected}`}`;
    case 'invalid_union':
      return 'discriminator' in issue
        ? `choose a known ${String(issue.discriminator)}`
        : 'give another value';
    default:
      return issue.message;
  }
}

function crossProblems(options: CannonOptions): Problem[] {
  const { workers, clients, load, workload, transport, maxQueries, sourcePort, tcpFallback, sockets } =
    options;
  const lanes = clients ?? workers;
  const outstanding = load.kind === 'closed' ? load.outstanding : null;
  const problems: Problem[] = [];
  const check = (wrong: boolean, problem: string, fix: string) => {
    if (wrong) problems.push({ problem, fix });
  };
  check(
    clients !== null && clients < workers,
    `${workers} workers cannot share ${clients} clients`,
    `use at least ${workers} clients (-c), or fewer workers (-w)`,
  );
  check(
    outstanding !== null && outstanding < workers,
    `${workers} workers cannot share ${outstanding} outstanding queries`,
    `allow at least ${workers} outstanding (-q), or use fewer workers (-w)`,
  );
  const window = Math.ceil((outstanding ?? 0) / workers);
  check(
    lanes >= workers && window > ALL_IDS * Math.floor(lanes / workers),
    `${outstanding} outstanding queries do not fit in ${many(lanes, 'socket')} with ${ALL_IDS} IDs each`,
    `use at least ${workers * Math.ceil(window / ALL_IDS)} clients (-c), or fewer outstanding (-q)`,
  );
  check(
    maxQueries !== null && maxQueries < workers,
    `${workers} workers cannot share ${maxQueries} queries`,
    'use fewer workers (-w)',
  );
  check(
    workload.kind === 'pcap' && load.kind !== 'timed' && load.kind !== 'closed',
    `a capture is replayed with its own timing, not ${load.kind}`,
    'omit the rate; --speed makes the replay faster or slower',
  );
  check(
    load.kind === 'timed' && workload.kind !== 'pcap',
    'only a capture has its own timing',
    'give --pcap FILE, or a rate',
  );
  check(
    sourcePort !== 0 && sourcePort + lanes - 1 > 65_535,
    `${lanes} sockets starting at port ${sourcePort} exceed port 65535`,
    'choose a lower first port (-x), or fewer clients (-c)',
  );
  check(
    sourcePort !== 0 && options.stream.queriesPerConnection !== null && (transport !== 'udp' || tcpFallback),
    'connections from given ports cannot be renewed: the system keeps a port for a while after each',
    'omit the first port (-x), or --queries-per-connection',
  );
  check(
    'randomLabelLength' in workload &&
      workload.randomLabelLength !== null &&
      (options.retries > 0 || tcpFallback),
    'queries with random labels cannot be repeated: each time they have another label',
    'omit --random-labels, or --retries and --tcp-fallback',
  );
  check(
    tcpFallback && transport !== 'udp',
    `answers over ${transport} are not retried over TCP`,
    'omit --tcp-fallback, or use -m udp',
  );
  check(
    sockets !== null && (transport !== 'udp' || tcpFallback),
    'sockets are counted over UDP alone',
    'omit sockets, or the other transport',
  );
  return problems;
}

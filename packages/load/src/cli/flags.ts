/** The flags of `dnscannon`, in groups. A flag that dnsperf or autocannon also has keeps their name for it. */
import { exitStatusHelp } from '@dinodns-bench/program';
import { Command, InvalidArgumentError, Option } from 'commander';

const TRANSPORTS = ['udp', 'tcp', 'tls', 'https', 'dot', 'doh'] as const;

const TIME_UNITS: Readonly<Record<string, number>> = { '': 1, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** "10", "500ms", "2m": seconds. */
function seconds(text: string): number {
  const [, number, unit = ''] = text.match(/^(\d+(?:\.\d+)?|\.\d+)\s*(us|ms|s|m|h)?$/) ?? [];
  const scale = TIME_UNITS[unit];
  if (number === undefined || scale === undefined) {
    throw new InvalidArgumentError('Give a time, such as 10 (seconds), 500ms or 2m.');
  }
  return Number(number) * scale;
}

/** "100000", "100k", "1.5M": a number; the options' schema checks the range. */
function number(text: string): number {
  const [, digits, unit = ''] = text.match(/^(-?\d+(?:\.\d+)?(?:e\d+)?)([kM]?)$/) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('Give a number, such as 1000 or 100k.');
  return Number(digits) * (unit === 'k' ? 1e3 : unit === 'M' ? 1e6 : 1);
}

/** "2", "max". */
function speed(text: string): number | 'max' {
  return text === 'max' ? 'max' : number(text);
}

/** "1000,2k,4k". */
function numbers(text: string): number[] {
  return text.split(',').map((part) => number(part.trim()));
}

/** "100:200k": from and to. */
function numberRange(text: string): { from: number; to: number } {
  const [from, to, ...rest] = text.split(':');
  if (from === undefined || to === undefined || rest.length > 0) {
    throw new InvalidArgumentError('Give two rates, such as 0:100k.');
  }
  return { from: number(from), to: number(to) };
}

/** Collects the values of a repeatable flag, such as "A,AAAA". */
function repeated(text: string, before: readonly string[] = []): string[] {
  const words = text.split(',').map((word) => word.trim());
  return [...before, ...words.filter((word) => word !== '')];
}

/** A flag as commander writes it, with the type of its value: the type of all flags follows from their declarations. */
type Flag<Text extends string, Value> = Option & { readonly text?: Text; readonly value?: Value };
type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type NameOf<Text extends string> = Text extends `${string}--${infer Name}`
  ? CamelCase<Name extends `${infer Word} ${string}` ? Word : Name>
  : never;
type Declared = NonNullable<(typeof GROUPS)[keyof typeof GROUPS][number]>;
type Negated = Extract<Declared, Flag<`--no-${string}`, boolean>>;

/** What commander returns; a value is present only if its flag was given, but for flags that begin with `--no-`. */
export type Flags = {
  [Each in Exclude<Declared, Negated> as NameOf<NonNullable<Each['text']>>]?: NonNullable<Each['value']>;
} & {
  [Each in Negated as NonNullable<Each['text']> extends `--no-${infer Name}`
    ? CamelCase<Name>
    : never]: boolean;
};

function flag<const Text extends string>(text: Text, description: string) {
  return new Option(text, description) as Flag<Text, Text extends `${string}<${string}` ? string : boolean>;
}

function one<const Text extends string, Value>(
  text: Text,
  description: string,
  parse: (given: string, before?: Value) => Value,
) {
  return new Option(text, description).argParser(parse) as Flag<Text, Value>;
}

function choice<const Text extends string, const Value extends string>(
  text: Text,
  description: string,
  choices: readonly Value[],
) {
  return new Option(text, description).choices(choices) as Flag<Text, Value>;
}

const GROUPS = {
  'Load:': [
    one('-d, --duration <time>', 'how long to send queries: 10, 500ms, 2m (default: 10 s)', seconds),
    one('-l, --limit <time>', "dnsperf's name for it", seconds).hideHelp(),
    one('-q, --outstanding <n>', 'closed loop: queries in flight over all workers (default: 100)', number),
    one('-Q, --max-rate <qps>', 'closed loop: at most this many queries per second', number),
    one('-R, --rate <qps>', 'open loop: send at this rate, whether or not answers arrive', number),
    one('--poisson <qps>', 'open loop: independent arrivals with this mean rate', number),
    one('--ramp <from:to>', 'open loop: from one rate to the other over the duration', numberRange),
    one('--steps <qps,…>', 'open loop: each rate for an equal part of the duration', numbers),
    one('-w, --workers <n>', 'threads, one per core (default: 1)', number),
    one('-T, --threads <n>', "dnsperf's name for it", number).hideHelp(),
    one('-c, --clients <n>', 'sockets or connections over all workers (default: 1 each)', number),
    one('-n, --passes <n>', 'passes over the workload (default: until the time is up)', number),
    one('--max-queries <n>', 'stop after this many queries', number),
    one('-t, --timeout <time>', 'a query without an answer after this time is lost (default: 5 s)', seconds),
    one('--retries <n>', 'how many times to resend an unanswered query (default: 0)', number),
    one('--seed <n>', 'seed of everything random (default: 1)', number),
  ],
  'Transport:': [
    choice('-m, --transport <kind>', 'udp (default), tcp, tls (or dot), https (or doh)', TRANSPORTS),
    one('-a, --source <address>', 'local address to send from; several are used in turn', repeated),
    one('-x, --source-port <port>', 'first local port (default: the system chooses)', number),
    one('-b, --buffer <kB>', 'receive buffer of each UDP socket (default: 4096)', number),
    flag('--tcp-fallback', 'retry truncated answers (TC=1) over TCP'),
    flag('--no-kernel-timestamps', 'timestamp answers when they are read, not when they arrive'),
    flag('--no-segmentation', 'pass each datagram to the kernel separately (for captures on this machine)'),
    one('--queries-per-connection <n>', 'open a new connection after this many queries', number),
    one('--pipelining <n>', 'queries in flight on one connection', number),
    flag('--server-name <name>', 'name for TLS and its certificate'),
    flag('--insecure', 'accept any certificate'),
    flag('--ca <file>', 'certificate authorities, PEM'),
    flag('--path <path>', 'path for DNS over HTTPS (default: /dns-query)'),
    flag('--get', 'DNS over HTTPS with GET (default: POST)'),
  ],
  'Workload:': [
    flag('--queries <file>', "a query file in dnsperf's format: a name and a type on each line"),
    one('--types <type,…>', 'types to query for each name (default: A)', repeated),
    one('--type-weights <n,…>', 'shares of the types, in the same order (default: equal)', numbers),
    one('--weights <n,…>', 'shares of the names, in the same order (default: in turn)', numbers),
    flag('--zones <pattern>', 'generated names (default: example{X}.com), {X} is a number'),
    one('--from <n>', 'first number of --zones (default: 1)', number),
    one('--to <n>', 'last number of --zones (default: 200)', number),
    one('--hit-ratio <share>', 'share of --zones queries for odd numbers, 0 to 1', number),
    flag('--reverse <network>', 'PTR queries for the addresses of a network'),
    flag('--random', 'take names at random, not in order'),
    one('--zipf <exponent>', "take names at random by Zipf's law, the first ones most often", number),
    one(
      '--random-labels <n>',
      'prepend n random characters to each name, so that no cache has the answer',
      number,
    ),
    flag('--pcap <file>', "replay a capture's queries with their timing"),
    one('--pcap-port <port>', 'replay queries to this port (default: 53)', number),
    one('--speed <factor>', 'replay this many times faster; max: as fast as -q allows', speed),
    flag('--kubernetes', "look names up as a pod's resolver does: search list, ndots, A and AAAA"),
    flag('--namespace <name>', "the pod's namespace (default: default)"),
    flag('--cluster-domain <name>', "the cluster's domain (default: cluster.local)"),
    one('--search <domain,…>', "the node's own search domains (default: internal)", repeated),
    one('--ndots <n>', 'names with fewer dots go through the search list first (default: 5)', number),
  ],
  'Queries:': [
    flag('-e, --edns', 'send EDNS with a payload size of 1232 bytes'),
    one('--edns-size <bytes>', 'send EDNS with this payload size', number),
    flag('-D, --dnssec', 'set the DO bit: request DNSSEC records'),
    flag('--nsid', "request the server's identifier"),
    flag('--subnet <network>', 'send this client subnet, such as 192.0.2.0/24'),
    flag('--cookie <hex>', 'a DNS cookie, or "random"; the server part is learnt'),
    one('-E, --edns-option <code:hex>', 'another EDNS option', repeated),
    flag('--no-recursion', 'clear RD'),
    choice('--class <class>', 'IN (default), CH, HS or ANY', ['IN', 'CH', 'HS', 'ANY']),
  ],
  'Checks:': [
    flag('--expect <codes,addresses>', 'check every answer: NOERROR,NXDOMAIN,127.0.0.1'),
    one(
      '--fail-if <threshold>',
      "exit with 9 if 'p99>5ms', 'lost>0.1%', 'qps<100000', …",
      (text, before: readonly string[] = []) => [...before, text],
    ),
    flag('--find-max', 'search for the highest rate without loss (RFC 8219, section 9)'),
    one('--max-loss <percent>', '--find-max: loss allowed (default: 0)', number),
    one('--max-p99 <time>', '--find-max: 99th percentile allowed (default: any)', seconds),
    one('--trials <n>', '--find-max: number of searches (default: 5)', number),
    one('--precision <percent>', '--find-max: distance of the final bounds (default: 2)', number),
  ],
  'Output:': [
    flag('--json', 'the result as JSON on standard output').conflicts(['ndjson', 'csv']),
    flag('--ndjson', 'each interval, then the result, as one line of JSON each').conflicts(['json', 'csv']),
    flag('--csv', 'a row for each interval and for the whole').conflicts(['json', 'ndjson']),
    flag('--hgrm <file>', 'also write the distribution of latency as an HdrHistogram log'),
    one('-S, --interval <time>', 'length of an interval (default: 1 s)', seconds),
    flag('--no-progress', 'no live progress line on the terminal'),
  ],
};

/** The command with all its flags; the caller sets name, version and output. */
export function buildCommand(): Command {
  const command = new Command('dnscannon')
    .description('A DNS load generator that tells the truth about latency.')
    .argument('<server>', '127.0.0.1:5300, [::1]:53, a host name, or an https:// URL')
    .argument('[names...]', 'names to query (default: --zones)');
  for (const [heading, options] of Object.entries(GROUPS)) {
    for (const option of options) command.addOption(option.helpGroup(heading));
  }
  return command;
}

const EXIT_STATUSES = exitStatusHelp([
  'success',
  'internal',
  'usage',
  'environment',
  'server',
  'output',
  'threshold',
  'interrupted',
  'terminated',
]);

/** The part of `--help` after the flags. */
export const HELP_AFTER_FLAGS = `
Examples:
  dnscannon -d 10 127.0.0.1:5300 example1.com
      as fast as 100 outstanding queries allow
  dnscannon -R 20k --fail-if 'p99>5ms' 127.0.0.1:5300
      20,000 queries a second, whatever happens
  dnscannon --find-max -w 2 192.0.2.1 --queries q.txt
      the highest rate without loss
${EXIT_STATUSES}
After 2 and 3, nothing was sent. After Ctrl-C and SIGTERM, the result so far is
printed.`;

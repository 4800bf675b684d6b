/** From flags to options, and in errors from options to flags. Each flag is handled in one place; contradictions are reported before anything is sent. */
import { given } from '@dinodns-bench/program';
import { LoadError, loadError } from '../errors.ts';
import { parseExpected } from '../message/response.ts';
import type { CannonInput } from '../options.ts';
import { parseServer } from '../server-address.ts';
import type { WorkloadInput } from '../workload/options.ts';
import type { Flags } from './flags.ts';

type Transport = NonNullable<CannonInput['transport']>;

/** No practical limit: a capture, passes and a number of queries end by themselves. */
const UNTIL_THE_END_SECONDS = 366 * 86_400;
const DEFAULT_EDNS_SIZE = 1232;

/** Flags that begin with `--no-`: true unless given. */
const NEGATED: readonly (keyof Flags)[] = ['recursion', 'segmentation', 'kernelTimestamps'];

const isGiven = (flags: Flags, name: keyof Flags) =>
  flags[name] !== (NEGATED.includes(name) ? true : undefined);

const flagOf = (name: keyof Flags) =>
  `--${NEGATED.includes(name) ? 'no-' : ''}${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Throws if more than one of these mutually exclusive flags was given. */
function onlyOne(flags: Flags, names: readonly (keyof Flags)[], what: string): void {
  const used = names.filter((name) => flags[name] !== undefined);
  if (used.length < 2) return;
  throw loadError('E_USAGE', `${used.map(flagOf).join(' and ')} each say ${what}`, 'give only one of them');
}

/** Flags that only some kinds of workload take. */
const OF_WORKLOAD: readonly { names: readonly (keyof Flags)[]; kinds: readonly WorkloadInput['kind'][] }[] = [
  { names: ['from', 'to', 'hitRatio'], kinds: ['zones'] },
  { names: ['pcapPort', 'speed'], kinds: ['pcap'] },
  { names: ['namespace', 'clusterDomain', 'search', 'ndots'], kinds: ['kubernetes'] },
  { names: ['types'], kinds: ['names', 'zones', 'kubernetes'] },
  { names: ['typeWeights'], kinds: ['names', 'zones'] },
  { names: ['weights'], kinds: ['names', 'kubernetes'] },
  { names: ['random', 'zipf', 'randomLabels'], kinds: ['names', 'file', 'zones', 'reverse'] },
  // A capture's queries are sent as they are.
  {
    names: ['edns', 'dnssec', 'nsid', 'subnet', 'cookie', 'ednsOption', 'recursion', 'class'],
    kinds: ['names', 'file', 'zones', 'reverse', 'kubernetes'],
  },
];

/** Flags that only datagrams take, only connections, only encrypted ones, and only DNS over HTTPS. */
const OF_TRANSPORT: readonly { names: readonly (keyof Flags)[]; transports: readonly Transport[] }[] = [
  { names: ['buffer', 'kernelTimestamps', 'segmentation'], transports: ['udp'] },
  { names: ['queriesPerConnection', 'pipelining'], transports: ['tcp', 'tls', 'https'] },
  { names: ['serverName', 'insecure', 'ca'], transports: ['tls', 'https'] },
  { names: ['path', 'get'], transports: ['https'] },
];

const OF_FIND_MAX: readonly (keyof Flags)[] = ['maxLoss', 'maxP99', 'trials', 'precision'];

/** Flags for one run, of which a search makes many: it decides when queries leave, how a run ends and what is a success. */
const OF_ONE_RUN: readonly (keyof Flags)[] = [
  ...(['outstanding', 'maxRate', 'poisson', 'ramp', 'steps', 'pcap', 'passes', 'maxQueries'] as const),
  ...(['expect', 'failIf', 'csv', 'hgrm', 'interval'] as const),
];

/** Throws for a flag of another workload, transport or way to measure than the one that was asked for. */
function refuseIdle(server: string, flags: Flags, { kind }: WorkloadInput, transport: Transport): void {
  const used = flags.tcpFallback === true ? [transport, 'tcp'] : [transport];
  const rules = [
    ...OF_WORKLOAD.map(({ names, kinds }) => ({
      names,
      isIdle: !kinds.includes(kind),
      where: kinds.length === 1 ? `without --${kinds[0]}` : `with --${kind === 'file' ? 'queries' : kind}`,
    })),
    ...OF_TRANSPORT.map(({ names, transports }) => ({
      names,
      isIdle: !transports.some((each) => used.includes(each)),
      where: `without ${transports.map((each) => `-m ${each}`).join(' or ')}`,
    })),
    {
      names: ['path'] as const,
      isIdle: parseServer(server, transport).path !== null,
      where: 'with a URL that has a path',
    },
    { names: OF_FIND_MAX, isIdle: flags.findMax !== true, where: 'without --find-max' },
    { names: OF_ONE_RUN, isIdle: flags.findMax === true, where: 'with --find-max' },
  ];
  for (const { names, isIdle, where } of rules) {
    const name = isIdle ? names.find((each) => isGiven(flags, each)) : undefined;
    if (name === undefined) continue;
    const fix = where.startsWith('without') ? 'add that, or omit it' : 'omit one of them';
    throw loadError('E_USAGE', `${flagOf(name)} has no effect ${where}`, fix);
  }
}

/** DNS over HTTPS where the server is an address of the web and nothing else was asked for. */
function transportOf(server: string, { transport }: Flags): Transport {
  if (transport === undefined) return /^https:/i.test(server) ? 'https' : 'udp';
  return transport === 'dot' ? 'tls' : transport === 'doh' ? 'https' : transport;
}

/** The library's options for a command line. @throws LoadError `E_USAGE`, `E_OPTIONS`. */
export function inputOf(server: string, names: readonly string[], flags: Flags): CannonInput {
  const workload = workloadOf(names, flags);
  const transport = transportOf(server, flags);
  refuseIdle(server, flags, workload, transport);
  return given({
    server,
    transport,
    workload,
    message: messageOf(flags),
    load: loadOf(flags),
    durationSeconds: durationOf(flags),
    maxQueries: flags.maxQueries,
    passes: flags.passes,
    workers: flags.workers ?? flags.threads,
    clients: flags.clients,
    sources: flags.source,
    sourcePort: flags.sourcePort,
    timeoutSeconds: flags.timeout,
    retries: flags.retries,
    tcpFallback: flags.tcpFallback,
    expect: expectOf(flags),
    stream: given({
      queriesPerConnection: flags.queriesPerConnection,
      pipelining: flags.pipelining,
      serverName: flags.serverName,
      verify: flags.insecure === true ? false : undefined,
      caFile: flags.ca,
      path: flags.path,
      method: flags.get === true ? ('GET' as const) : undefined,
    }),
    intervalSeconds: flags.interval,
    timestamps: flags.kernelTimestamps ? undefined : ('off' as const),
    segmentation: flags.segmentation ? undefined : ('off' as const),
    receiveBufferBytes: flags.buffer === undefined ? undefined : flags.buffer * 1024,
    seed: flags.seed,
  });
}

function durationOf({ duration, limit, pcap, passes, maxQueries, ramp, steps }: Flags): number | undefined {
  const time = duration ?? limit;
  const endsByItself = pcap !== undefined || passes !== undefined || maxQueries !== undefined;
  // The time decides the rates of these: over a year, a ramp would stay where it begins.
  const isSpread = ramp !== undefined || steps !== undefined;
  return time ?? (endsByItself && !isSpread ? UNTIL_THE_END_SECONDS : undefined);
}

function loadOf(flags: Flags): CannonInput['load'] {
  const { outstanding, maxRate, rate, poisson, ramp, steps, pcap, speed } = flags;
  onlyOne(flags, ['rate', 'poisson', 'ramp', 'steps'], 'when queries leave');
  for (const name of ['outstanding', 'maxRate'] as const) {
    for (const open of ['rate', 'poisson', 'ramp', 'steps'] as const) {
      if (flags[name] === undefined || flags[open] === undefined) continue;
      const closed = name === 'outstanding' ? '-q' : '-Q';
      const problem = `${closed} is for a closed loop, --${open} for an open loop, which does not wait for answers`;
      throw loadError('E_USAGE', problem, `omit ${closed}, or use -Q for a closed loop with a limited rate`);
    }
  }
  if (rate !== undefined) return { kind: 'constant', rate };
  if (poisson !== undefined) return { kind: 'poisson', rate: poisson };
  if (ramp !== undefined) return { kind: 'ramp', ...ramp };
  if (steps !== undefined) return { kind: 'steps', rates: steps };
  const isClosed = outstanding !== undefined || maxRate !== undefined || speed === 'max';
  if (pcap !== undefined && !isClosed) return { kind: 'timed' };
  return { kind: 'closed', ...given({ outstanding, maxRate }) };
}

function orderOf({ random, zipf, randomLabels }: Flags) {
  return given({
    popularity: zipf !== undefined ? ('zipf' as const) : random === true ? ('random' as const) : undefined,
    zipfExponent: zipf,
    randomLabelLength: randomLabels,
  });
}

function workloadOf(names: readonly string[], flags: Flags): WorkloadInput {
  const { queries, zones, reverse, pcap, kubernetes, types, typeWeights, weights } = flags;
  onlyOne(flags, ['queries', 'zones', 'reverse', 'pcap', 'kubernetes'], 'what to query');
  const other = queries ?? zones ?? reverse ?? pcap;
  if (names.length > 0 && other !== undefined) {
    throw loadError(
      'E_USAGE',
      `the names ${names.join(' ')} and "${other}" each say what to query`,
      'give only one of them',
    );
  }
  const order = orderOf(flags);
  if (queries !== undefined) return { kind: 'file', path: queries, ...order };
  if (reverse !== undefined) return { kind: 'reverse', network: reverse, ...order };
  if (pcap !== undefined) {
    const speed = flags.speed === 'max' ? undefined : flags.speed;
    return { kind: 'pcap', path: pcap, ...given({ speed, port: flags.pcapPort }) };
  }
  if (kubernetes === true) return podWorkload(names, flags);
  if (names.length > 0) return { kind: 'names', names, ...given({ types, typeWeights, weights }), ...order };
  const { from, to, hitRatio } = flags;
  return { kind: 'zones', ...given({ pattern: zones, from, to, hitRatio, types, typeWeights }), ...order };
}

function podWorkload(names: readonly string[], flags: Flags): WorkloadInput {
  const { namespace, clusterDomain, search, ndots, types, weights } = flags;
  const pod = given({ namespace, clusterDomain, search, ndots });
  const asked = types?.map((type) => {
    const upper = type.toUpperCase();
    if (upper === 'A' || upper === 'AAAA') return upper;
    throw loadError(
      'E_USAGE',
      `a pod's resolver does not look up addresses of type "${type}"`,
      'use A, AAAA or both',
    );
  });
  return {
    kind: 'kubernetes',
    names: names.length > 0 ? names : ['kubernetes', 'infoblox.com'],
    ...pod,
    ...given({ types: asked, weights }),
  };
}

function messageOf(flags: Flags): CannonInput['message'] {
  const { edns, ednsSize, dnssec, nsid, subnet, cookie, ednsOption, recursion } = flags;
  return given({
    ednsSize: ednsSize ?? (edns === true ? DEFAULT_EDNS_SIZE : undefined),
    dnssec,
    nsid,
    clientSubnet: subnet,
    cookie,
    options: ednsOption,
    recursionDesired: recursion ? undefined : false,
    class: flags.class,
  });
}

function expectOf({ expect }: Flags): CannonInput['expect'] {
  if (expect === undefined) return undefined;
  const parsed = parseExpected(expect);
  if ('value' in parsed) return parsed.value;
  throw loadError('E_OPTIONS', parsed.problem, 'write it as NOERROR,NXDOMAIN,127.0.0.1');
}

/** Maps the library's option names to command-line flags, for error messages. */
const FLAG_OF: Readonly<Record<string, string>> = {
  'load.rate': '--rate or --poisson',
  'load.rates': '--steps',
  'load.from': '--ramp (start)',
  'load.to': '--ramp (end)',
  'load.outstanding': '--outstanding (-q)',
  'load.maxRate': '--max-rate (-Q)',
  durationSeconds: '--duration (-d)',
  workers: '--workers (-w)',
  clients: '--clients (-c)',
  passes: '--passes (-n)',
  maxQueries: '--max-queries',
  timeoutSeconds: '--timeout (-t)',
  retries: '--retries',
  seed: '--seed',
  sources: '--source (-a)',
  sourcePort: '--source-port (-x)',
  receiveBufferBytes: '--buffer (-b)',
  intervalSeconds: '--interval (-S)',
  'message.ednsSize': '--edns-size',
  'stream.queriesPerConnection': '--queries-per-connection',
  'stream.pipelining': '--pipelining',
  'stream.path': '--path',
  'workload.from': '--from',
  'workload.to': '--to',
  'workload.hitRatio': '--hit-ratio',
  'workload.zipfExponent': '--zipf',
  'workload.randomLabelLength': '--random-labels',
  'workload.speed': '--speed',
  'workload.ndots': '--ndots',
  repetitions: '--trials',
  maxP99Seconds: '--max-p99',
  high: '--rate (-R)',
};

/** Turns `load.rate cannot be 0` into `--rate or --poisson cannot be 0`; list entries (`sources.1`) map to their flag. */
function inFlags(problem: string): string {
  const [, name = '', rest = ''] =
    /^([A-Za-z][A-Za-z\d]*(?:\.[A-Za-z]+)?)(?:\.\d+)?( .*)$/s.exec(problem) ?? [];
  const flag = Object.hasOwn(FLAG_OF, name) ? FLAG_OF[name] : undefined;
  return flag === undefined ? problem : flag + rest;
}

/** Errors from the library name its options; shows the flag that sets each one instead. */
export function nameFlags(error: unknown): unknown {
  if (!(error instanceof LoadError)) return error;
  const problems = error.problems.map(({ problem, fix }) => ({ problem: inFlags(problem), fix }));
  return new LoadError(error.code, problems, { cause: error.cause, total: error.total });
}

/** Maps the library's option names to command-line flags, for error messages. */
const FLAGS: Readonly<Record<string, string>> = {
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
};

/** Turns `load.rate cannot be 0` into `--rate or --poisson cannot be 0`; list entries (`sources.1`) map to their flag. */
export function inFlags(problem: string): string {
  const [, name = '', rest = ''] = /^([A-Za-z]+(?:\.[A-Za-z]+)?)(?:\.\d+)?( .*)$/s.exec(problem) ?? [];
  const flag = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
  return flag === undefined ? problem : flag + rest;
}

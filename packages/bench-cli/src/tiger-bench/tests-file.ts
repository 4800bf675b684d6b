/**
 * tiger-bench's own settings: a YAML list of tests, read with the values that are in effect there. Its declared defaults
 * are not applied, so a missing field is zero, empty or false, except for those below. Pure.
 */
import { messageOf } from '@dinodns-bench/program';
import { parse as parseYaml } from 'yaml';
import { BenchError } from '../errors.ts';
import { count, FieldError, flag, integer, optional, type Read, rate, struct, text, word } from './fields.ts';

const TEST_KINDS = ['none', 'dnsperf', 'iperf', 'thruput-latency', 'ttfr'] as const;

export const DNS_POLICY_MODES = ['Inline', 'NoDelay', 'DelayDeniedPacket', 'DelayDNSResponse'] as const;
type DnsPolicyMode = (typeof DNS_POLICY_MODES)[number];

/** What tiger-bench measures when no URL is given. */
export const DEFAULT_URL = 'http://www.example.com';
/** Where 0 is given. */
const DEFAULT_SECONDS = 60;
const DEFAULT_NAMESPACE = 'testns';

/** In the order in which the results file has the fields. */
const readTest = struct({
  TestKind: word(TEST_KINDS),
  Encap: word(['none', 'vxlan', 'ipip']),
  Dataplane: word(['iptables', 'bpf', 'nftables']),
  NumPolicies: count,
  NumIdlePolicies: count,
  NumServices: count,
  NumPods: count,
  HostNetwork: flag,
  TestNamespace: text,
  Iterations: count,
  /** Seconds. tiger-bench accepts a negative number, and then measures nothing. */
  Duration: integer,
  DNSPerf: optional(
    struct({
      NumDomains: count,
      Mode: word(DNS_POLICY_MODES),
      RunStress: flag,
      TestDNSPolicy: flag,
      TargetURL: text,
    }),
  ),
  Perf: optional(
    struct({
      Direct: flag,
      Service: flag,
      External: flag,
      ControlPort: integer,
      TestPort: integer,
      ExternalIPOrFQDN: text,
    }),
  ),
  TTFRConfig: optional(struct({ TestPodsPerNode: count, Rate: rate })),
  CalicoNodeCPULimit: text,
  LeaveStandingConfig: flag,
});

/** One test, under tiger-bench's own names. */
export type TigerTest = ReturnType<typeof readTest>;

export interface TestsFile {
  readonly tests: readonly TigerTest[];
  /** What was ignored, in sentences. */
  readonly notes: readonly string[];
}

/** Modes that a dataplane lacks. */
const LACKS: Readonly<Record<string, readonly DnsPolicyMode[]>> = {
  bpf: ['DelayDeniedPacket', 'DelayDNSResponse'],
  nftables: ['Inline'],
};

/** True unless the dataplane lacks the mode; iptables has all four. */
export function hasMode(dataplane: string, mode: string): boolean {
  return !(LACKS[dataplane] ?? []).some((lacking) => lacking === mode);
}

/** Fields of iperf and thruput-latency tests that do not say what to measure. */
const STANDARD_PERF = {
  Direct: true,
  Service: true,
  External: false,
  ControlPort: 32_000,
  TestPort: 32_001,
  ExternalIPOrFQDN: '',
} as const;

function withDefaults(test: TigerTest): TigerTest {
  const isPerf = test.TestKind === 'iperf' || test.TestKind === 'thruput-latency';
  return {
    ...test,
    Duration: test.Duration === 0 ? DEFAULT_SECONDS : test.Duration,
    TestNamespace: test.TestNamespace === '' ? DEFAULT_NAMESPACE : test.TestNamespace,
    DNSPerf:
      test.DNSPerf === null
        ? null
        : {
            ...test.DNSPerf,
            TargetURL: test.DNSPerf.TargetURL === '' ? DEFAULT_URL : test.DNSPerf.TargetURL,
          },
    Perf: test.Perf ?? (isPerf ? STANDARD_PERF : null),
  };
}

function checkDnsPerf(path: string, { Dataplane, DNSPerf }: TigerTest): void {
  if (DNSPerf === null) throw new FieldError(`${path}.DNSPerf is required for TestKind dnsperf`);
  const { Mode, TestDNSPolicy, TargetURL } = DNSPerf;
  if (!URL.canParse(TargetURL)) {
    throw new FieldError(
      `${path}.DNSPerf.TargetURL must be an absolute URL, not ${JSON.stringify(TargetURL)}`,
    );
  }
  if (TestDNSPolicy && Mode === '') {
    throw new FieldError(
      `${path}.DNSPerf.Mode is required with TestDNSPolicy: ${DNS_POLICY_MODES.join(', ')}`,
    );
  }
  if (!hasMode(Dataplane, Mode)) {
    throw new FieldError(`${path}.DNSPerf.Mode: the dataplane ${Dataplane} has no ${Mode}`);
  }
}

const readOne: Read<TigerTest> = (value, context) => {
  const test = withDefaults(readTest(value, context));
  if (test.TestKind === '') {
    throw new FieldError(`${context.path}.TestKind is required: ${TEST_KINDS.join(', ')}`);
  }
  if (test.TestKind === 'dnsperf') checkDnsPerf(context.path, test);
  return test;
};

function parseList(content: string): unknown[] {
  // Its decoder follows YAML 1.1, in which `yes` and `on` are true.
  const list: unknown = parseYaml(content, { version: '1.1' });
  if (Array.isArray(list) && list.length > 0) return list;
  throw new FieldError(
    Array.isArray(list) || list === null ? 'it has no tests' : 'it is not a list of tests',
  );
}

/**
 * @param path As in messages.
 * @throws BenchError `E_CONFIG` for the first thing that tiger-bench would refuse.
 */
export function parseTestsFile(path: string, content: string): TestsFile {
  const notes: string[] = [];
  try {
    const tests = parseList(content).map((value, index) =>
      readOne(value, { path: `tests[${index}]`, notes }),
    );
    return { tests, notes };
  } catch (cause) {
    throw new BenchError('E_CONFIG', `${path}: ${messageOf(cause).split('\n')[0]}`, {
      fix: 'Correct the file: a YAML list of tests with the settings of tiger-bench (docs/lookup.md has an example).',
      cause,
    });
  }
}

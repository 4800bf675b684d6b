/**
 * The files of tiger-bench. Those in fixtures/tiger-bench are written by hand after the specification of its formats;
 * the property tests make random ones.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { distributionOf } from '../src/experiments/lookup/distribution.ts';
import { summaryOf } from '../src/experiments/lookup/tiger/elements.ts';
import { tigerEnvironment } from '../src/experiments/lookup/tiger/run-tests.ts';
import { importedRecordSchema } from '../src/history/imported.ts';
import { seededRandom } from '../src/stats/random.ts';
import { caseName, failureOf, formatJunit } from '../src/tiger-bench/junit.ts';
import {
  type ClusterDetails,
  elementOf,
  formatResults,
  parseResults,
  type TigerElement,
} from '../src/tiger-bench/results-file.ts';
import { DNS_POLICY_MODES, parseTestsFile } from '../src/tiger-bench/tests-file.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const fixture = (name: string) => readFile(join(import.meta.dirname, 'fixtures/tiger-bench', name), 'utf8');

const summarize = (times: readonly number[]) => summaryOf(distributionOf(times));

const one = (yaml: string) => parseTestsFile('tiger.yaml', yaml).tests[0];

describe("tiger-bench's tests in YAML", () => {
  it('are read with every field, in any spelling of the keys, with the values in effect', async () => {
    const { tests, notes } = parseTestsFile('tests.yaml', await fixture('tests.yaml'));
    const [golden, bare] = parseResults(await fixture('results.json'));
    expect(tests[0]).toEqual(golden?.config);
    expect(tests[1]).toEqual(bare?.config);
    expect(tests[2]?.Perf).toMatchObject({ Direct: true, Service: true, External: false });
    expect(tests[3]?.TTFRConfig).toEqual({ TestPodsPerNode: 53, Rate: 2.5 });
    expect(notes).toEqual(['tests[0].DNSPerf.numTargetPods is not a setting of tiger-bench and is ignored']);
  });

  it('do not get the defaults that are only declared', () => {
    const test = one('[{TestKind: dnsperf, DNSPerf: {}}]');
    expect(test).toMatchObject({ Iterations: 0, DNSPerf: { RunStress: false, TestDNSPolicy: false } });
    expect(one('[{TestKind: dnsperf, Duration: -5, DNSPerf: {}}]')?.Duration).toBe(-5);
  });

  it('say what a misspelt key was meant to be', () => {
    const { notes } = parseTestsFile('t.yaml', '[{TestKind: none, NumService: 3}]');
    expect(notes).toEqual([
      'tests[0].NumService is not a setting of tiger-bench and is ignored: did you mean NumServices?',
    ]);
  });

  it.each([
    ['[]', 'it has no tests'],
    ['', 'it has no tests'],
    ['tests: 1', 'it is not a list of tests'],
    ['[{Duration: 1}]', 'tests[0].TestKind is required'],
    ['[{TestKind: curl}]', 'tests[0].TestKind must be none, dnsperf'],
    ['[{TestKind: dnsperf}]', 'tests[0].DNSPerf is required'],
    ['[{TestKind: none, Encap: gre}]', 'tests[0].Encap must be none, vxlan, ipip, not "gre"'],
    ['[{TestKind: none, NumServices: -1}]', 'tests[0].NumServices must be at least 0, not -1'],
    ['[{TestKind: none, Duration: 1.5}]', 'tests[0].Duration must be a whole number, not 1.5'],
    ['[{TestKind: none, HostNetwork: 1}]', 'tests[0].HostNetwork must be true or false, not 1'],
    ['[{TestKind: dnsperf, DNSPerf: {Mode: inline}}]', 'tests[0].DNSPerf.Mode must be Inline'],
    ['[{TestKind: dnsperf, DNSPerf: {TestDNSPolicy: true}}]', 'tests[0].DNSPerf.Mode is required'],
    ['[{TestKind: dnsperf, DNSPerf: {TargetURL: www.example.com}}]', 'must be an absolute URL'],
    ['- {TestKind: [}', 'tiger.yaml: '],
  ])('are refused in one sentence: %s', (yaml, message) => {
    expect(() => one(yaml)).toThrow(message);
  });

  it('are refused for a mode that the dataplane lacks', () => {
    const accepts = (dataplane: string, mode: string) => {
      try {
        return one(`[{TestKind: dnsperf, Dataplane: ${dataplane}, DNSPerf: {Mode: ${mode}}}]`) !== undefined;
      } catch {
        return false;
      }
    };
    const table = Object.fromEntries(
      ['iptables', 'bpf', 'nftables', '""'].map((dataplane) => [
        dataplane,
        DNS_POLICY_MODES.filter((mode) => accepts(dataplane, mode)),
      ]),
    );
    expect(table).toEqual({
      iptables: [...DNS_POLICY_MODES],
      bpf: ['Inline', 'NoDelay'],
      nftables: ['NoDelay', 'DelayDeniedPacket', 'DelayDNSResponse'],
      '""': [...DNS_POLICY_MODES],
    });
  });
});

const details: ClusterDetails = {
  Cloud: 'aws',
  Provisioner: 'kubeadm',
  NodeType: 'linux',
  NodeOS: 'Ubuntu <24.04> & more',
  NodeKernel: '6.8.0',
  NodeArch: 'arm64',
  NumNodes: 3,
  Dataplane: 'nftables',
  IPFamily: 'dual',
  Encapsulation: '',
  WireguardEnabled: true,
  Product: 'calico',
  CalicoVersion: 'v3.30.2',
  K8SVersion: 'v1.34.4',
  CRIVersion: 'containerd://2.0.0',
  CNIOption: 'Calico',
  ReleaseStream: '',
};

/** An element with random settings and measurements. */
function randomElement(random: () => number): TigerElement {
  const integer = (limit: number) => Math.floor(random() * limit);
  const mode = DNS_POLICY_MODES[integer(4)] ?? 'NoDelay';
  const yaml = JSON.stringify([
    {
      TestKind: 'dnsperf',
      NumServices: integer(5000),
      HostNetwork: random() < 0.5,
      Duration: integer(600),
      DNSPerf: { NumDomains: integer(10), Mode: mode, TargetURL: `http://a${integer(99)}.example.com/?a&b` },
    },
  ]);
  const [config] = parseTestsFile('random.yaml', yaml).tests;
  if (config === undefined) throw new Error('no test');
  const times = Array.from({ length: integer(200) }, () =>
    random() < 0.05 ? 0 : random() * 10 ** -integer(9),
  );
  const dnsperf = {
    LookupTime: summarize(times),
    ConnectTime: summarize(times.map((time) => time / 3)),
    DuplicateSYN: integer(3),
    DuplicateSYNACK: integer(3),
    FailedCurls: integer(50),
    SuccessfulCurls: times.length,
  };
  const error = random() < 0.3 ? `went wrong: "${integer(9)}" <\u2028>\n` : '';
  return elementOf(config, details, random() < 0.8 ? { dnsperf, error } : { error });
}

describe("tiger-bench's results file", () => {
  it('is written as it was read, to the byte', async () => {
    const text = await fixture('results.json');
    expect(formatResults(parseResults(text))).toBe(text);
  });

  it('is written from settings and measurements as the specification has it', async () => {
    const text = await fixture('results.json');
    const { tests } = parseTestsFile('tests.yaml', await fixture('tests.yaml'));
    const [first, second] = parseResults(text);
    if (tests[0] === undefined || tests[1] === undefined) throw new Error('no tests');
    const own = [
      elementOf(
        tests[0],
        { ...details, ...first?.ClusterDetails },
        {
          dnsperf: {
            LookupTime: summarize([0.003, 0.001, 0.002, 0.004]),
            ConnectTime: summarize([0, 0, 0, 2.5e-7]),
            DuplicateSYN: 3,
            DuplicateSYNACK: 0,
            FailedCurls: 1,
            SuccessfulCurls: 4,
          },
        },
      ),
      elementOf(tests[1], { ...details, ...second?.ClusterDetails }, { error: second?.error ?? '' }),
    ];
    expect(formatResults(own)).toBe(text);
  });

  it('is the same after reading and writing, whatever was measured', () => {
    const random = seededRandom('tiger-bench');
    for (let round = 0; round < 200; round += 1) {
      const elements = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomElement(random));
      const text = formatResults(elements);
      expect(parseResults(text)).toEqual(elements);
      expect(formatResults(parseResults(text))).toBe(text);
    }
  });

  it('keeps fields of other versions where they stand', () => {
    const text =
      '[\n  {\n    "config": {\n      "TestKind": "dnsperf",\n      "NumTargetPods": 100,\n      "Duration": 60\n    },\n' +
      '    "ClusterDetails": {},\n    "dnsperf": {\n      "LookupTime": {},\n      "Extra": {\n        "a": null\n      }\n    }\n  }\n]';
    expect(formatResults(parseResults(text))).toBe(text);
  });

  it.each([
    ['{}', 'it is not a list of tests'],
    ['[1]', 'element 0: '],
    [
      '[{"config": {"TestKind": "dnsperf"}, "dnsperf": {"FailedCurls": "1"}}]',
      'element 0.dnsperf.FailedCurls',
    ],
  ])('is refused with the place that is wrong: %s', (text, message) => {
    expect(() => parseResults(text)).toThrow(message);
  });
});

describe('a summary', () => {
  it('has the nearest rank as its percentiles, and omits what is zero', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(summarize(hundred.toReversed())).toEqual({
      min: 1,
      max: 100,
      avg: 50.5,
      P50: 50,
      P75: 75,
      P90: 90,
      P99: 99,
      datapoints: 100,
    });
    expect(summarize([])).toEqual({});
    expect(summarize([0, 0])).toEqual({ datapoints: 2 });
  });
});

describe("tiger-bench's JUnit report", () => {
  it('names its cases by their settings, and escapes what XML needs escaped', async () => {
    const elements = parseResults(await fixture('results.json'));
    expect(formatJunit(elements, new Date('2026-11-22T08:00:00.123Z'))).toBe(await fixture('junit.xml'));
  });

  it('fails a case that has an error, a status or no curl that succeeded', async () => {
    const [good] = parseResults(await fixture('results.json'));
    if (good?.dnsperf === undefined) throw new Error('no fixture');
    const empty = { ...good.dnsperf, SuccessfulCurls: 0, LookupTime: {}, ConnectTime: {} };
    expect(failureOf(good)).toBeNull();
    expect(failureOf({ ...good, status: 'failed' })).toBe('the test failed');
    expect(failureOf({ ...good, dnsperf: empty })).toContain('no successful curls');
    expect(failureOf({ ...good, dnsperf: { ...empty, LookupTime: { datapoints: 1 } } })).toBeNull();
    expect(failureOf({ config: { TestKind: 'dnsperf' } })).toContain('No DNSPerf results');
    expect(failureOf({ config: { TestKind: 'none' } })).toBeNull();
    expect(caseName({ config: { TestKind: 'none', Dataplane: 'iptables' } })).toBe('none_dataplane=iptables');
  });
});

describe("tiger-bench's environment", () => {
  it('is read under its names and under those with BENCH_, which win', () => {
    const env = { TESTCONFIGFILE: 'a', BENCH_TESTCONFIGFILE: 'b', RESULTS_FILE: 'r', JUNIT_REPORT_FILE: '' };
    expect(tigerEnvironment(env)).toEqual({
      testsFile: 'b',
      resultsFile: 'r',
      junitFile: undefined,
      releaseStream: '',
    });
    expect(tigerEnvironment({ BENCH_JUNIT_REPORT_FILE: 'j', RELEASE_STREAM: 'v3.22' })).toMatchObject({
      testsFile: undefined,
      junitFile: 'j',
      releaseStream: 'v3.22',
    });
  });
});

describe('bench lookup with a file of tests', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await testWorld({ env: { KUBECONFIG: '', HOME: '/nonexistent', RESULTS_FILE: 'results.json' } });
    const test = '{TestKind: dnsperf, Duration: 60, DNSPerf: {TargetURL: "http://www.example.com"}}';
    await world.fs.writeFile(join(world.directory, 'tiger.yaml'), `[${test}, {TestKind: none}, ${test}]`);
  });
  afterEach(() => world.remove());

  it('shows the plan of each with --dry-run, without a cluster, and writes nothing', async () => {
    expect(await world.bench('lookup', '--config', 'tiger.yaml', '--dry-run'), world.err()).toBe(0);
    expect(world.out().match(/1 case, 3 trials, about /g)).toHaveLength(2);
    expect(world.err()).toContain('tests[1] is of the kind none');
    expect(await world.fs.readdir(world.directory)).toEqual(['tiger.yaml']);
  });

  it('does not continue a run: that of a test has its settings', async () => {
    expect(await world.bench('lookup', '--config', 'tiger.yaml', '--resume', 'latest')).toBe(2);
    expect(world.err()).toContain('--resume continues with the settings of the run and accepts no others');
    expect(await world.fs.readdir(world.directory)).toEqual(['tiger.yaml']);
  });
});

describe('bench import of a results file of tiger-bench', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await testWorld();
  });
  afterEach(() => world.remove());

  it('loses nothing: connect times, duplicates and counts are figures, and the element is kept whole', async () => {
    const path = join(import.meta.dirname, 'fixtures/tiger-bench/results.json');
    expect(await world.bench('import', '--json', path), world.err()).toBe(0);
    const record = importedRecordSchema.parse(JSON.parse(world.out()));
    const trials = record.cases.flatMap((item) => item.trials);
    expect(trials[0]?.figures).toEqual({
      lookupMinSeconds: 0.001,
      lookupMeanSeconds: 0.0025,
      lookupP50Seconds: 0.002,
      lookupP75Seconds: 0.003,
      lookupP90Seconds: 0.004,
      lookupP99Seconds: 0.004,
      lookupMaxSeconds: 0.004,
      lookupSamples: 4,
      connectMeanSeconds: 6.25e-8,
      connectP90Seconds: 2.5e-7,
      connectP99Seconds: 2.5e-7,
      connectMaxSeconds: 2.5e-7,
      connectSamples: 4,
      successfulCurls: 4,
      failedCurls: 1,
      duplicateSyns: 3,
      duplicateSynAcks: 0,
    });
    const kept = trials.map(({ original }) => original);
    expect(formatResults(parseResults(JSON.stringify(kept)))).toBe(await fixture('results.json'));
    expect(trials[1]?.failure).toBe('no node is labelled <default-pool>');
  });
});

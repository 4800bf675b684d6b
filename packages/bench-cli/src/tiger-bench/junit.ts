/** tiger-bench's JUnit report: a suite for each kind of test, a case for each element of the results file. Pure. */
import type { TigerElement } from './results-file.ts';

const XML_ESCAPES: Readonly<Record<string, string>> = {
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
};

// Tab and line breaks are escaped; XML 1.0 has no way to write the other control characters.
const NOT_IN_XML = /\p{Cc}/gu;

function xml(text: string): string {
  const escaped = text.replaceAll(/["'&<>\t\n\r]/g, (character) => XML_ESCAPES[character] ?? character);
  return escaped.replaceAll(NOT_IN_XML, '\ufffd');
}

/** `dnsperf_dataplane=bpf_policies=5_dnsMode=Inline` */
export function caseName({ config, ClusterDetails = {} }: TigerElement): string {
  const { TestKind, Dataplane = '', NumPolicies = 0, HostNetwork, CalicoNodeCPULimit = '', DNSPerf } = config;
  const { Dataplane: found = '', ReleaseStream = '' } = ClusterDetails;
  const optional = [
    [ReleaseStream !== '', `_releaseStream=${ReleaseStream}`],
    [NumPolicies > 0, `_policies=${NumPolicies}`],
    [HostNetwork === true, '_hostNetwork'],
    [CalicoNodeCPULimit !== '', `_cpuLimit=${CalicoNodeCPULimit}`],
    [(DNSPerf?.Mode ?? '') !== '', `_dnsMode=${DNSPerf?.Mode}`],
  ] as const;
  const parts = optional.map(([isThere, part]) => (isThere ? part : ''));
  return `${TestKind}_dataplane=${Dataplane === '' ? found : Dataplane}${parts.join('')}`;
}

/** Why the case counts as failed; null if it passed. */
export function failureOf({ config, dnsperf, error, status }: TigerElement): string | null {
  if (error !== undefined && error !== '') return error;
  if (status === 'failed') return 'the test failed';
  if (config.TestKind !== 'dnsperf') return null;
  if (dnsperf === undefined) return 'No DNSPerf results collected';
  const { SuccessfulCurls = 0, LookupTime, ConnectTime } = dnsperf;
  const points = (LookupTime?.datapoints ?? 0) + (ConnectTime?.datapoints ?? 0);
  return SuccessfulCurls === 0 && points === 0 ? 'DNSPerf has no successful curls or timing data' : null;
}

const secondsOf = ({ config }: TigerElement) => config.Duration ?? 0;

function caseLines(element: TigerElement): string[] {
  const { TestKind } = element.config;
  const attributes = `name="${xml(caseName(element))}" classname="tiger-bench.${xml(TestKind)}" time="${secondsOf(element)}"`;
  const failure = failureOf(element);
  if (failure === null) return [`    <testcase ${attributes}></testcase>`];
  const why = xml(failure);
  return [
    `    <testcase ${attributes}>`,
    `      <failure message="${why}" type="TestFailure">${why}</failure>`,
    '    </testcase>',
  ];
}

function suiteLines(kind: string, elements: readonly TigerElement[], startedAt: Date): string[] {
  const failures = elements.filter((element) => failureOf(element) !== null).length;
  const time = elements.reduce((sum, element) => sum + secondsOf(element), 0);
  const timestamp = startedAt.toISOString().replace(/\.\d+Z$/, 'Z');
  return [
    `  <testsuite name="${xml(kind)}" tests="${elements.length}" failures="${failures}" errors="0" skipped="0" time="${time}" timestamp="${timestamp}">`,
    ...elements.flatMap(caseLines),
    '  </testsuite>',
  ];
}

/** The text of the report. Suites are in the order in which their kinds first occur. */
export function formatJunit(elements: readonly TigerElement[], startedAt: Date): string {
  const suites = [...Map.groupBy(elements, ({ config }) => config.TestKind)];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites.flatMap(([kind, members]) => suiteLines(kind, members, startedAt)),
    '</testsuites>',
  ].join('\n');
}

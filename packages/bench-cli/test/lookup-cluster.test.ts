/** `bench lookup --target kubernetes`, without a cluster: its pure parts, and its requests to an API server of this file's making. What needs a cluster is in k8s/lookup*.k8s.test.ts. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { forwardPatch } from '../src/cluster-changes/change.ts';
import type { ApiRequest } from '../src/cluster-changes/cluster-api.ts';
import { valueAt } from '../src/cluster-changes/json.ts';
import { resolveSettings } from '../src/config/configuration.ts';
import { KUBERNETES_DEFAULTS } from '../src/config/kubernetes-settings.ts';
import { documentOf } from '../src/engine/document.ts';
import { mergeCaptures } from '../src/experiments/lookup/capture/merge.ts';
import { SHARED_DIRECTORY } from '../src/experiments/lookup/capture/pod-signals.ts';
import { lookupDocument } from '../src/experiments/lookup/document.ts';
import { lookupKind } from '../src/experiments/lookup/evidence.ts';
import { checkedUrl } from '../src/experiments/lookup/plan.ts';
import {
  CALICO_PATHS,
  cpuLimitChange,
  demandEnterprise,
  demandVersion,
  linuxDataplane,
  modeChange,
  nodeCpuLimit,
  settingEdit,
} from '../src/experiments/lookup/pods/calico.ts';
import {
  conditionsOfDetails,
  detailsOf,
  detailsOfRecord,
} from '../src/experiments/lookup/pods/cluster-details.ts';
import { clusterSettings } from '../src/experiments/lookup/pods/cluster-settings.ts';
import { dnsPolicy, policyDomains } from '../src/experiments/lookup/pods/dns-policy.ts';
import { samplerPod, standingPolicy, webService } from '../src/experiments/lookup/pods/objects.ts';
import {
  endOf,
  evidenceOfPods,
  sampleOneByOne,
  unreachable,
} from '../src/experiments/lookup/pods/sample-in-pods.ts';
import { type AskedBefore, SAMPLER_SCRIPT } from '../src/experiments/lookup/pods/sampler-script.ts';
import { standingServices } from '../src/experiments/lookup/pods/standing.ts';
import { LOOKUP_SETTINGS } from '../src/experiments/lookup/settings.ts';
import { subjectsOf, wordsOf } from '../src/experiments/lookup/subjects.ts';
import { settingsOfTest } from '../src/experiments/lookup/tiger/run-tests.ts';
import { inParallel } from '../src/kubernetes-api/in-parallel.ts';
import { parseRecordAs } from '../src/results/parse-record.ts';
import type { ClusterRun } from '../src/targets/kubernetes/cluster-run.ts';
import { JOURNAL_ANNOTATION } from '../src/targets/kubernetes/objects/labels.ts';
import { parseTestsFile } from '../src/tiger-bench/tests-file.ts';
import { makeLookup } from './fixtures/make-lookup.ts';
import { answer, refusal, worldOfApi } from './support/api-server.ts';
import { referenceText } from './support/reference.ts';

const installation = (linux?: string, containers?: unknown) => ({
  metadata: { uid: 'i' },
  spec: {
    variant: 'TigeraSecureEnterprise',
    ...(linux === undefined ? {} : { calicoNetwork: { linuxDataplane: linux } }),
    ...(containers === undefined
      ? {}
      : { calicoNodeDaemonSet: { spec: { template: { spec: { containers } } } } }),
  },
});
const felix = { metadata: { uid: 'f' }, spec: { dnsPolicyMode: 'DelayDeniedPacket' } };

describe("Calico's settings", () => {
  it('take a mode in the field of the dataplane, and nothing where it is set already', () => {
    const change = modeChange(felix, installation('Iptables'), 'NoDelay');
    expect(change?.edits).toEqual([
      { pointer: '/spec/dnsPolicyMode', before: 'DelayDeniedPacket', after: 'NoDelay' },
    ]);
    expect(modeChange(felix, installation(), 'DelayDeniedPacket')).toBeNull();
    expect(modeChange(felix, installation('BPF'), 'NoDelay')?.edits[0]).toMatchObject({
      pointer: '/spec/bpfDNSPolicyMode',
      before: null,
    });
    expect(modeChange(felix, installation('Nftables'), 'NoDelay')?.what).toBe('nftablesDNSPolicyMode');
  });

  it.each([
    ['BPF', 'DelayDeniedPacket'],
    ['BPF', 'DelayDNSResponse'],
    ['Nftables', 'Inline'],
    ['VPP', 'NoDelay'],
  ] as const)('do not take %s with %s', (dataplane, mode) => {
    expect(() => modeChange(felix, installation(dataplane), mode)).toThrow(
      `the dataplane ${dataplane} has no DNS policy mode ${mode}`,
    );
  });

  it.each([
    ['BPF', 'v3.19.2', 'v3.20'],
    ['Iptables', 'v3.20.4', 'v3.21'],
    ['Iptables', 'v2.8.0', 'v3.21'],
  ])('do not take Inline with %s in version %s', (dataplane, cnxVersion, since) => {
    const information = { spec: { cnxVersion } };
    expect(() => demandVersion(information, installation(dataplane), 'Inline')).toThrow(
      `Calico Enterprise ${cnxVersion} has no mode Inline with the dataplane ${dataplane}`,
    );
    expect(demandVersion(information, installation(dataplane), 'NoDelay')).toBeUndefined();
    for (const newer of [`${since}.0`, 'v4.0.0', '']) {
      const later = { spec: { cnxVersion: newer } };
      expect(demandVersion(later, installation(dataplane), 'Inline')).toBeUndefined();
    }
  });

  it('are at the computed dataplane where the Installation names none', () => {
    expect(linuxDataplane({ status: { computed: { calicoNetwork: { linuxDataplane: 'BPF' } } } })).toBe(
      'BPF',
    );
    expect(linuxDataplane({})).toBe('Iptables');
  });

  it('name everything that is missing in one error', () => {
    expect(() => demandEnterprise({ felix: null, installation: null })).toThrow(
      'no Calico Enterprise: FelixConfiguration default (projectcalico.org/v3) and Installation default (operator.tigera.io/v1) missing',
    );
    expect(() => demandEnterprise({ felix, installation: { spec: { variant: 'Calico' } } })).toThrow(
      'the variant "Calico"',
    );
    expect(demandEnterprise({ felix, installation: installation() })).toBeUndefined();
  });

  it('limit the CPU of calico-node and keep what else is said of it and of other containers', () => {
    const other = { name: 'sidecar', resources: { limits: { cpu: '1' } } };
    const own = { name: 'calico-node', resources: { requests: { cpu: '250m' }, limits: { memory: '1Gi' } } };
    const before = installation('Iptables', [own, other]);
    const [edit] = cpuLimitChange(before, '500m')?.edits ?? [];
    expect(edit?.after).toEqual([
      other,
      {
        name: 'calico-node',
        resources: { requests: { cpu: '250m' }, limits: { memory: '1Gi', cpu: '500m' } },
      },
    ]);
    expect(edit?.before).toEqual([own, other]);
    expect(cpuLimitChange(installation(), '0')).toBeNull();
  });

  it('create the parents that the Installation lacks, and see the limit there', () => {
    const change = cpuLimitChange(installation(), '2');
    expect(change?.edits[0]).toMatchObject({ pointer: '/spec/calicoNodeDaemonSet', before: null });
    const { spec } = installation();
    const after = { spec: { ...spec, calicoNodeDaemonSet: change?.edits[0]?.after } };
    expect(nodeCpuLimit(after)).toBe('2');
    expect(cpuLimitChange(after, '2')).toBeNull();
    expect(cpuLimitChange(after, '0')).not.toBeNull();
  });

  it('are edited at the first key that is missing', () => {
    expect(settingEdit({ a: { b: {} } }, ['a', 'b', 'c', 'd'], 1)).toEqual({
      pointer: '/a/b/c',
      before: null,
      after: { d: 1 },
    });
    expect(settingEdit({ a: 'x' }, ['a'], 'y')).toEqual({ pointer: '/a', before: 'x', after: 'y' });
  });

  it('are changed only from what was found', () => {
    const change = modeChange(felix, installation('Iptables'), 'NoDelay');
    if (change === null) throw new Error('no change');
    expect(forwardPatch(change)).toContainEqual({
      op: 'test',
      path: '/spec/dnsPolicyMode',
      value: 'DelayDeniedPacket',
    });
  });
});

it.each([
  ['was set before the run: the whole log', 'Inline', ''],
  ['is set by the run: the log from then on, by the clock of the node', 'NoDelay', '&sinceSeconds=11'],
])('a fallback of Inline is looked for where it %s', async (_, before, expected) => {
  const now = { ...felix, spec: { dnsPolicyMode: before } };
  const objects: Readonly<Record<string, unknown>> = {
    [CALICO_PATHS.felix]: now,
    [CALICO_PATHS.installation]: installation(),
  };
  const status = { status: { conditions: [{ type: 'Available', status: 'True' }] } };
  let seconds = 0;
  const clock = {
    monotonicSeconds: () => seconds,
    sleep: async (time: number) => {
      seconds += time;
    },
  };
  const asked: string[] = [];
  const client = {
    clock,
    list: async () => ({ items: [{ metadata: { name: 'calico-node-1' } }] }),
    text: async (path: string) => {
      asked.push(path);
      return 'Falling back to DelayDeniedPacket';
    },
  };
  const session = {
    apply: async () => {
      now.spec.dnsPolicyMode = 'Inline';
      return 1;
    },
  };
  const { setMode } = clusterSettings({
    run: { client },
    api: { send: async ({ path }: ApiRequest) => ({ status: 200, body: objects[path] ?? status }) },
    ...{ guarded: { session }, signal: new AbortController().signal, say: () => undefined },
  } as unknown as Parameters<typeof clusterSettings>[0]);
  await expect(setMode('Inline')).rejects.toThrow('calico-node-1 cannot do the mode Inline');
  expect(asked).toEqual([
    `/api/v1/namespaces/calico-system/pods/calico-node-1/log?container=calico-node${expected}`,
  ]);
});

describe('a run that changes settings of Calico', () => {
  const journal = {
    version: 1,
    ...{ runId: 'killed', experiment: 'lookup', namespace: 'dinodns-bench-killed', token: 'killed' },
    changes: [{ object: {}, edits: [], pinned: [], state: 'planned' }],
  };

  /** What the run asked the API server to write, on a cluster that refuses to create a namespace. */
  async function written(pending: boolean) {
    const node = { metadata: { name: 'n' }, status: { nodeInfo: {} } };
    const objects: Readonly<Record<string, unknown>> = {
      '/version': { gitVersion: 'v1.34.4' },
      '/api/v1/nodes': { items: [node], metadata: {} },
      [CALICO_PATHS.felix]: felix,
      [CALICO_PATHS.installation]: installation('Iptables'),
      ...(pending
        ? {
            '/api/v1/namespaces/kube-system/configmaps/dinodns-bench-journal': {
              data: { 'journal.json': JSON.stringify(journal) },
            },
          }
        : {}),
    };
    const writes: { method: string; path: string; annotations: unknown }[] = [];
    const world = await worldOfApi(async (request, response) => {
      const { method = '', url = '' } = request;
      const path = url.split('?')[0] ?? '';
      const body = await json(request).catch(() => null);
      if (path.endsWith('/selfsubjectaccessreviews'))
        return answer(response, 201, { status: { allowed: true } });
      if (method !== 'GET') {
        writes.push({ method, path, annotations: valueAt(body, '/metadata/annotations') });
        return answer(response, 403, refusal(403, 'Forbidden', 'no namespaces today'));
      }
      const found = objects[path];
      if (found === undefined) answer(response, 404, refusal(404, 'NotFound', 'none'));
      else answer(response, 200, found);
    });
    const flags = ['--target', 'kubernetes', '--policy-modes', 'NoDelay', '--duration', '3', '--trials', '1'];
    expect(await world.bench('lookup', ...flags)).not.toBe(0);
    return { writes, message: world.err() };
  }

  it('writes nothing while the guard of a killed run may be at work, in a namespace that may be its own', async () => {
    const { writes, message } = await written(true);
    expect(writes).toEqual([]);
    expect(message).toContain('run killed has changed the cluster, and not everything is put back');
    expect(message).toContain('bench swap restore');
  });

  it('says at its namespace where its journal is, for `bench cleanup` to leave the guard alone', async () => {
    const { writes, message } = await written(false);
    expect(writes[0], message).toMatchObject({
      ...{ method: 'POST', path: '/api/v1/namespaces' },
      annotations: { [JOURNAL_ANNOTATION]: 'kube-system' },
    });
  });
});

describe('a policy by DNS name', () => {
  it('allows the target first, and as many names as were asked for', () => {
    const domains = policyDomains('https://www.example.org:8443/x', 4, 'seed');
    expect(domains[0]).toBe('www.example.org');
    expect(domains).toHaveLength(4);
    for (const name of domains.slice(1)) expect(name).toMatch(/^www\.[A-Za-z0-9]{10}\.com$/);
    expect(new Set(domains).size).toBe(4);
    expect(policyDomains('http://a.example', 0, 'seed')).toEqual(['a.example']);
  });

  it('is that of tiger-bench for Calico, and sends queries through the proxy for Cilium', () => {
    const request = { runId: 'r', namespace: 'n', domains: ['a.example'] };
    const calico = dnsPolicy('calico', request);
    expect(calico.path).toBe('/apis/projectcalico.org/v3/namespaces/n/networkpolicies');
    expect(calico.object).toMatchObject({
      metadata: { name: 'default.zzz-perf-test-policy' },
      spec: {
        tier: 'default',
        order: 1,
        selector: "dep == 'dnsperf'",
        types: ['Egress'],
        egress: [
          { action: 'Allow', protocol: 'UDP', destination: { ports: [53, 'dns'] } },
          { action: 'Allow', destination: { domains: ['a.example'] } },
        ],
      },
    });
    const wildcard = { ...request, domains: ['*.a.example'] };
    expect(dnsPolicy('cilium', wildcard).object).toMatchObject({
      spec: { egress: [{}, { toFQDNs: [{ matchPattern: '*.a.example' }] }] },
    });
    expect(dnsPolicy('cilium', request).object).toMatchObject({
      spec: {
        egress: [
          { toPorts: [{ rules: { dns: [{ matchPattern: '*' }] } }] },
          { toFQDNs: [{ matchName: 'a.example' }] },
        ],
      },
    });
  });
});

const settingsFrom = (flags: Readonly<Record<string, unknown>>) =>
  resolveSettings(LOOKUP_SETTINGS, { env: {}, flags: { target: 'kubernetes', ...flags } }, 'lookup');

describe('the subjects of a run on a cluster', () => {
  it('are named by what tells them apart', () => {
    const names = (flags: Readonly<Record<string, unknown>>) =>
      subjectsOf(settingsFrom(flags)).map(({ name }) => name);
    expect(names({})).toEqual(['0 Services']);
    expect(names({ services: [0, 1000] })).toEqual(['0 Services', '1000 Services']);
    expect(names({ policyModes: ['NoDelay', 'Inline'] })).toEqual(['NoDelay', 'Inline']);
    expect(names({ services: [1, 2], policyModes: ['NoDelay', 'Inline'] })).toEqual([
      '1 Service/NoDelay',
      '1 Service/Inline',
      '2 Services/NoDelay',
      '2 Services/Inline',
    ]);
    expect(names({ client: ['curl', 'builtin'] })).toEqual(['curl', 'builtin']);
  });

  it('are read with separators, and keep their names in records and in CSV', async () => {
    expect(['1000 Services', '1 Service', '150000 Services/Inline', 'curl'].map(wordsOf)).toEqual([
      '1,000 Services',
      '1 Service',
      '150,000 Services, Inline',
      'curl',
    ]);
    const record = parseRecordAs(lookupKind, referenceText('kubernetes-lookup'), 'run.json');
    const { data, findings, series: _, ...shown } = documentOf(record, lookupDocument(record));
    expect(findings.map(({ sentence }) => sentence).join(' ')).toMatch(
      /, 0 of (?!1,000 )\d+,\d{3} connections with a repeated SYN/,
    );
    expect(JSON.stringify(findings)).toContain('Against 0 Services');
    expect(JSON.stringify(shown)).toContain('"1,000 Services"');
    expect(data.rows.map(([subject]) => subject)).toContain('1000 Services');
  });
});

const run = {
  runId: 'r',
  namespace: 'n',
  settings: KUBERNETES_DEFAULTS,
  pullSecrets: [],
  images: { loader: 'i' },
};

describe('the objects of a run on a cluster', () => {
  const pod = (capturePort: number | null, hasPolicy = true) =>
    samplerPod(run, {
      name: 'dnsperf-trial-1-node',
      unit: 'trial-1',
      node: 'node',
      url: 'http://a',
      readyUrl: null,
      before: 'warm',
      hasPolicy,
      command: ['true'],
      capturePort,
      programs: { configMap: 'programs', items: {} },
      deadlineSeconds: 100,
    });

  it('are restricted, but for the capture, which may only listen in its own network', () => {
    const [sampler, capture] = pod(80).spec?.containers ?? [];
    expect(sampler?.securityContext?.capabilities).toEqual({ drop: ['ALL'] });
    expect(capture?.securityContext?.capabilities?.add).toContain('NET_RAW');
    expect(capture?.securityContext?.capabilities?.add).not.toContain('NET_ADMIN');
    expect(pod(80).spec?.hostNetwork).toBeUndefined();
    expect(pod(null).spec?.containers).toHaveLength(1);
    expect(pod(80).metadata?.labels).toMatchObject({ app: 'dnsperf', dep: 'dnsperf' });
    // What only waits for a Service must not be under the policy.
    expect(pod(80, false).metadata?.labels).not.toHaveProperty('dep');
  });

  it('have the names of tiger-bench', () => {
    expect(webService(run, 0).metadata?.name).toBe('standing-svc');
    expect(webService(run, 7).metadata?.name).toBe('standing-svc-7');
    expect(webService(run, 0, '192.0.2.1').spec?.externalIPs).toEqual(['192.0.2.1']);
    expect(standingPolicy(run, 1, true).metadata).toMatchObject({ name: 'idle-policy-1' });
  });

  it('end when every container has ended, and at once where one cannot start', () => {
    const status = (phase: string, ...states: object[]) => ({
      spec: { containers: states.map((_, index) => ({ name: `c${index}`, image: 'i' })) },
      status: {
        phase,
        containerStatuses: states.map((state, index) => ({
          ...{ name: `c${index}`, image: 'i', imageID: '', ready: false, restartCount: 0 },
          state,
        })),
      },
    });
    const done = { terminated: { exitCode: 0 } };
    const running = { running: {} };
    expect(endOf([status('Running', running, done)], 1)).toBeUndefined();
    expect(endOf([status('Succeeded', done, done)], 1)).toBe('ended');
    expect(endOf([status('Succeeded', done, done)], 2)).toBeUndefined();
    // What it printed says why.
    expect(endOf([status('Failed', done, { terminated: { exitCode: 64 } })], 1)).toBe('ended');
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } };
    expect(endOf([status('Pending', running, waiting)], 1)).toMatchObject({
      failure: { code: 'E_POD_IMAGE' },
    });
  });
});

describe('the standing Services', () => {
  it('are created and deleted from what the cluster has, whatever became of the trial before', async () => {
    const names = new Set(['standing-svc']);
    const most = 3;
    const client = {
      clock: { monotonicSeconds: () => 0 },
      list: async () => ({ items: [...names].map((name) => ({ metadata: { name } })) }),
      create: async (_: string, { metadata }: ReturnType<typeof webService>) => {
        if (names.size > most) throw new Error('range is full');
        names.add(metadata?.name ?? '');
      },
      delete: async (_: string, name: string) => names.delete(name),
    };
    const said: string[] = [];
    const scaleTo = standingServices({
      run: { ...run, client } as unknown as ClusterRun,
      signal: new AbortController().signal,
      say: (text) => said.push(text),
    });
    await expect(scaleTo(9)).rejects.toThrow('range is full');
    expect(await scaleTo(1)).toBe('http://standing-svc-1');
    expect(await scaleTo(2)).toBe('http://standing-svc-2');
    expect(await scaleTo(0)).toBeNull();
    expect([...names]).toEqual(['standing-svc']);
    expect(said.map((text) => text.replace(/ in .*/, ''))).toEqual([
      'standing Services: 3 → 1',
      'standing Services: 1 → 2',
      'standing Services: 2 → 0',
    ]);
    client.delete = async () => false;
    await scaleTo(1);
    await expect(scaleTo(0)).rejects.toThrow('the namespace has 1 standing Services, not 0');
  });
});

it('a new pod for each sample has a name by its node, however long that is, and its share of the time that all took', async () => {
  const pods = new Map<string, V1Pod>();
  const names: string[] = [];
  let now = 0;
  const client = {
    clock: { monotonicSeconds: () => now, after: () => () => undefined, sleep: async () => undefined },
    create: async (_: string, pod: V1Pod) => {
      const name = pod.metadata?.name ?? '';
      names.push(name);
      pods.set(name, { ...pod, status: { phase: 'Succeeded' } });
      now += 4.5;
    },
    delete: async (_: string, name: string) => pods.delete(name),
    list: async () => ({ items: [...pods.values()], resourceVersion: '' }),
    stream: async () =>
      new Blob([
        'kernel|begin|0\nsample|1|0.01|0.02|0.03|0.04|192.0.2.1|40000|200|0\nkernel|end|0\n',
      ]).stream(),
  };
  const nodes = ['a', 'b'].map((end) => `ip-10-0-0-1.${'long.'.repeat(12)}${end}`);
  const sampled = await sampleOneByOne({
    ...{ run: { ...run, client } as unknown as ClusterRun, programs: { configMap: 'programs', items: {} } },
    ...{ signal: new AbortController().signal, unit: 'trial-1', readyUrl: null, before: 'nothing' },
    ...{
      hasPolicy: false,
      client: 'curl',
      url: 'http://a',
      seconds: 10,
      paceSeconds: 0,
      nodes,
      capture: false,
    },
  });
  expect(names).toEqual(
    [0, 1].flatMap((sample) => [0, 1].map((node) => `dnsperf-trial-1-${sample}-${node}`)),
  );
  expect(sampled.pods.map(({ node }) => node)).toEqual([...nodes, ...nodes]);
  expect(evidenceOfPods(sampled, true)).toMatchObject({ seconds: 18, samples: { succeeded: 4 } });
});

describe('the script of a sampler pod', () => {
  /** Lines that it prints; `curl` of a pod is this function of a shell. */
  async function runScript(before: AskedBefore, curl: string, ready = ''): Promise<string[]> {
    const shared = await mkdtemp(join(tmpdir(), 'lookup-script-'));
    onTestFinished(() => rm(shared, { recursive: true }));
    const script = `sleep() { :; }; curl() { ${curl}; }\n${SAMPLER_SCRIPT.replaceAll(SHARED_DIRECTORY, shared)}`;
    const words = [ready, 'http://*.example.com/', before, 'echo', 'sampling'];
    const { stdout } = spawnSync('/bin/sh', ['-c', script, 'sampler', ...words], { encoding: 'utf8' });
    // The capture waits for them, however the sampler ends.
    expect(await readdir(shared)).toEqual(['prepared', 'sampled']);
    return stdout.trim().split('\n');
  }

  it('says that a Service is not ready while its pod still lives, though every packet to it is dropped', async () => {
    const lines = await runScript('warm', 'echo "limit $3"; return 28', 'http://standing-svc-9');
    expect(lines.pop()).toBe('not-ready|http://standing-svc-9');
    expect(new Set(lines)).toEqual(new Set(['limit 1']));
    expect(lines).toHaveLength(120);
  });

  it('asks nothing before the first sample where a policy is looked at', async () => {
    expect(await runScript('nothing', 'echo "curl asked"')).toEqual(['sampling']);
    expect(await runScript('warm', 'echo "curl asked"')).toEqual(['curl asked', 'sampling']);
    expect(await runScript('check', 'true')).toEqual(['sampling']);
  });

  it('says which addresses it tried where the page cannot be reached, and bench what would work', async () => {
    const curl = `echo '*   Trying 192.0.2.1:80...' >&2; echo '*   Trying [2001:db8::1]:80...' >&2; return 28`;
    const lines = await runScript('check', curl);
    expect(lines).toEqual(['unreachable|28', 'tried|192.0.2.1:80...', 'tried|[2001:db8::1]:80...']);
    const { message, problems } = unreachable(
      { url: 'http://www.example.com/', hasPolicy: false },
      'p',
      28,
      lines,
    );
    expect(message).toBe(
      'pod p: http://www.example.com/ does not answer, tried 192.0.2.1:80, [2001:db8::1]:80: exit status 28 (time limit of 8 s)',
    );
    expect(problems[0]?.fix).toContain('http://standing-svc is the web pods of the run itself');
    const own = unreachable({ url: 'http://standing-svc/', hasPolicy: true }, 'p', 6, []);
    expect(own.message).toContain('the name in http://standing-svc/ does not resolve');
    expect(own.problems[0]?.fix).toMatch(/^These are web pods of this run.* under the policy/);
  });
});

describe('the captures of several pods', () => {
  const capture = (queries: number, dropped: number) => ({
    interface: 'eth0',
    handshakes: {
      connections: 10,
      connectionsRepeated: 1,
      syn: { ipv4: 12, ipv6: 0, ecn: 3 },
      synAck: { ipv4: 10, ipv6: 0 },
      duplicateSyn: 2,
      duplicateSynAck: 0,
      tigerRule: { duplicateSyn: 1, duplicateSynAck: 0 },
    },
    searches: { queries, repeated: 0, questions: [{ name: 'a', type: 'A', queries }] },
    counters: { captured: 30, received: 30 + dropped, dropped },
  });

  it('are added up', () => {
    expect(mergeCaptures([capture(4, 0), capture(6, 0)])).toMatchObject({
      handshakes: {
        connections: 20,
        duplicateSyn: 4,
        syn: { ipv4: 24, ecn: 6 },
        tigerRule: { duplicateSyn: 2 },
      },
      searches: { queries: 10, questions: [{ name: 'a', type: 'A', queries: 10 }] },
      capture: { interfaces: ['eth0'], captured: 60 },
      isWhole: true,
    });
  });

  it('are not whole if one lost packets, and unknown if one says nothing', () => {
    expect(mergeCaptures([capture(1, 0), capture(1, 5)])?.isWhole).toBe(false);
    expect(mergeCaptures([capture(1, 0), { ...capture(1, 0), counters: null }])).toBeNull();
    expect(mergeCaptures([])).toBeNull();
  });
});

describe('bounded parallelism', () => {
  it('never has more than its width under way, and does everything once', async () => {
    let active = 0;
    let most = 0;
    const done: number[] = [];
    await inParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
      active += 1;
      most = Math.max(most, active);
      await Promise.resolve();
      active -= 1;
      done.push(item);
    });
    expect(most).toBe(3);
    expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('stops at the first failure', async () => {
    const seen: number[] = [];
    const failing = inParallel([1, 2, 3, 4], 1, async (item) => {
      seen.push(item);
      if (item === 2) throw new Error('two');
    });
    await expect(failing).rejects.toThrow('two');
    expect(seen).toEqual([1, 2]);
  });
});

describe('settings of a run on a cluster', () => {
  it.each([
    [{ services: '0,many' }, '--services: "0,many" must be a whole number from 0 to 20000'],
    [{ policyModes: 'Inlined' }, '--policy-modes: "Inlined" must be a list of NoDelay, DelayDeniedPacket'],
    [{ policyModes: 'Inline', policy: 'cilium' }, '--policy-modes: has no effect without --policy calico'],
    [{ calicoNodeCpu: 'much' }, '--calico-node-cpu: "much" is not a quantity of CPU'],
    [{ lease: '5' }, '--lease: "5" must be a duration from 10 to 600 seconds'],
    [{ lease: '60' }, '--lease: has no effect without --policy-modes or --calico-node-cpu'],
    [{ leaseNamespace: 'n' }, '--lease-namespace: has no effect without --policy-modes or --calico-node-cpu'],
    [{ domains: '10' }, '--domains: has no effect without --policy'],
    [{ domains: '10', policyModes: 'Inline', policy: 'none' }, '--domains: has no effect without --policy'],
    [{ standingPolicies: '5' }, '--standing-policies: has no effect without --standing-pods'],
    [{ pace: '1s', podPerSample: true }, '--pace and --pod-per-sample exclude each other'],
  ])('are refused in one sentence: %j', (flags, message) => {
    expect(() => checkedUrl(settingsFrom(flags))).toThrow(
      expect.toSatisfy((error) => [error.message, ...error.evidence].some((text) => text.includes(message))),
    );
  });

  it("are those of tiger-bench's test, on its nodes, with its kind of policy", () => {
    const yaml = `[{TestKind: dnsperf, Duration: 30, NumServices: 10, NumPods: 7, NumPolicies: 5, NumIdlePolicies: 2,
      CalicoNodeCPULimit: 500m, LeaveStandingConfig: true,
      DNSPerf: {Mode: NoDelay, TestDNSPolicy: true, RunStress: true, NumDomains: 3, TargetURL: 'http://www.example.net'}}]`;
    const [test] = parseTestsFile('t', yaml).tests;
    if (test?.DNSPerf == null) throw new Error('no test');
    const { DNSPerf: dns } = test;
    const { base, flags } = settingsOfTest(test, { client: 'builtin' });
    expect(
      resolveSettings(LOOKUP_SETTINGS, { ...(base === undefined ? {} : { base }), env: {}, flags }, 'lookup'),
    ).toMatchObject({
      target: 'kubernetes',
      url: 'http://www.example.net',
      duration: 30,
      trials: 1,
      client: ['builtin'],
      services: [10],
      standingPods: 7,
      standingPolicies: 5,
      idlePolicies: 2,
      stress: true,
      policy: 'calico',
      policyModes: ['NoDelay'],
      domains: 3,
      calicoNodeCpu: '500m',
      keep: true,
      nodes: 'tigera.io/test-nodepool=default-pool',
    });
    const lease = { lease: '30' };
    expect(settingsOfTest(test, lease).flags).toMatchObject(lease);
    const bare = settingsOfTest(
      { ...test, NumPods: 0, CalicoNodeCPULimit: '', DNSPerf: { ...dns, Mode: '', TestDNSPolicy: false } },
      lease,
    );
    // What has no effect on a test is no mistake of its file, nor of the flags that are for all of its tests.
    const settings = resolveSettings(LOOKUP_SETTINGS, { env: {}, flags: bare.flags }, 'lookup');
    expect(settings).toMatchObject({ standingPolicies: 0, idlePolicies: 7, lease: 60 });
    const { flags: cilium } = settingsOfTest(test, { policy: 'cilium' });
    expect(cilium).toMatchObject({ policy: 'cilium' });
    expect(cilium).not.toHaveProperty('policyModes');
    expect(() => settingsOfTest({ ...test, Duration: -1 }, {})).toThrow('leave no time for a sample');
  });
});

describe("a cluster in tiger-bench's words", () => {
  const node = {
    metadata: {
      name: 'ip-10-0-0-1.compute.internal',
      annotations: { 'kubeadm.alpha.kubernetes.io/cri-socket': 'x' },
    },
    spec: { podCIDRs: ['10.244.0.0/24', 'fd00::/64'] },
    status: {
      nodeInfo: {
        ...{ architecture: 'amd64', bootID: '', machineID: '', systemUUID: '', kubeProxyVersion: '' },
        ...{
          containerRuntimeVersion: 'containerd://2.0.0',
          kernelVersion: '6.8.0',
          kubeletVersion: 'v1.34.4',
        },
        ...{ operatingSystem: 'linux', osImage: 'Ubuntu 24.04' },
      },
    },
  };

  it('has what can be read of Calico Enterprise', () => {
    const found = {
      nodes: [node, node],
      node,
      felix: { spec: { wireguardEnabled: true } },
      information: { spec: { calicoVersion: 'v3.30.2' } },
    };
    const details = detailsOf({ ...found, installation: installation('BPF') });
    expect(details).toMatchObject({
      Cloud: 'aws',
      Provisioner: 'kubeadm',
      NumNodes: 2,
      Dataplane: 'bpf',
      IPFamily: 'dual',
      WireguardEnabled: true,
      Product: 'calient',
      CalicoVersion: 'v3.30.2',
    });
    const { environment } = makeLookup({ trials: [] });
    expect(detailsOfRecord({ environment, conditions: conditionsOfDetails(details) })).toEqual(details);
  });

  it('is unknown where there is no Calico', () => {
    const details = detailsOf({
      nodes: [],
      node: undefined,
      installation: null,
      felix: null,
      information: null,
    });
    expect(details).toMatchObject({
      Cloud: 'unknown',
      Dataplane: 'unknown',
      Product: 'unknown',
      NumNodes: 0,
    });
  });
});

/**
 * A DNS pod with sidecars, as on OpenShift and in service meshes. `fixtures/kubelet` is what kubelet 1.34, cAdvisor and
 * metrics-server 0.9 sent for such a pod on the test cluster; fields that nobody reads have been removed.
 */
import { readFileSync } from 'node:fs';
import type { V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parseThrottling } from '../src/observe/kubernetes/cadvisor.ts';
import { parsePodMetrics } from '../src/observe/kubernetes/metrics-api.ts';
import { podFigures } from '../src/observe/kubernetes/pod-figures.ts';
import { parseSummary } from '../src/observe/kubernetes/summary.ts';
import { dnsContainer, observedContainer } from '../src/targets/kubernetes/dns-container.ts';
import { describeService } from '../src/targets/kubernetes/existing-service.ts';

const fixture = (name: string) => readFileSync(new URL(`fixtures/kubelet/${name}`, import.meta.url), 'utf8');
const pod: V1Pod = JSON.parse(fixture('pod.json'));
const NAME = 'dns-default-fixture';
const containers = new Map([[NAME, 'dns']]);

const withContainers = (...list: { name: string; port?: number; protocol?: string }[]): V1Pod => ({
  metadata: { name: 'p' },
  spec: {
    containers: list.map(({ name, port, protocol = 'UDP' }) => ({
      name,
      ...(port === undefined ? {} : { ports: [{ containerPort: port, protocol }] }),
    })),
  },
});

describe('the DNS container of a pod', () => {
  it('is the one that listens on the port of the Service, wherever it stands', () => {
    expect(dnsContainer(pod, 53)?.name).toBe('dns');
    const meshed = withContainers({ name: 'istio-proxy', port: 15090 }, { name: 'main', port: 5353 });
    expect(dnsContainer(meshed, 5353)?.name).toBe('main');
    const overTcp = withContainers({ name: 'web', port: 53, protocol: 'TCP' }, { name: 'x', port: 53 });
    expect(dnsContainer(overTcp, 53)?.name).toBe('x');
  });

  it('is the one with a usual name, the default one or the first where none declares the port', () => {
    expect(dnsContainer(withContainers({ name: 'metrics' }, { name: 'coredns' }), 53)?.name).toBe('coredns');
    const annotated = withContainers({ name: 'a' }, { name: 'b' });
    annotated.metadata = { annotations: { 'kubectl.kubernetes.io/default-container': 'b' } };
    expect(dnsContainer(annotated, 53)?.name).toBe('b');
    expect(dnsContainer(withContainers({ name: 'a' }, { name: 'b' }), 53)?.name).toBe('a');
    expect(dnsContainer({ spec: { containers: [] } }, 53)).toBeUndefined();
  });

  it('has the figures of its pod if it is alone; a sidecar among the init containers is company', () => {
    expect(observedContainer(pod, 53)).toBe('dns');
    expect(observedContainer(withContainers({ name: 'main' }), 53)).toBeNull();
    const spec = { containers: [{ name: 'main' }] };
    const once = { name: 'setup' };
    const always = { name: 'proxy', restartPolicy: 'Always' };
    expect(observedContainer({ spec: { ...spec, initContainers: [once] } }, 53)).toBeNull();
    expect(observedContainer({ spec: { ...spec, initContainers: [once, always] } }, 53)).toBe('main');
  });

  it('is the program of the record, with the others beside it', () => {
    const identity = { name: 'cluster-dns', kind: 'cluster-dns', variant: null, title: 'Cluster DNS' };
    const record = describeService(identity, {
      namespace: 'openshift-dns',
      name: 'dns-default',
      port: 53,
      address: '10.0.0.10',
      podPort: 53,
      labels: {},
      pods: [pod],
    });
    expect(record.version).toBe('v1.13.1');
    expect(record).toMatchObject(identity);
    expect(record.components).toEqual({
      deployed: 'no',
      service: 'openshift-dns/dns-default',
      pods: '1',
      container: 'dns',
      sidecars:
        'kube-rbac-proxy (localhost/testcluster/coredns:v1.13.1), mesh-proxy (localhost/testcluster/coredns:v1.13.1)',
    });
  });
});

describe('the figures of a pod with sidecars', () => {
  it('from the Summary API are those of the DNS container, not their sum', () => {
    expect(parseSummary(fixture('summary.json'), 'fixture', containers).get(NAME)).toEqual({
      cpu: { stamp: '2026-11-22T04:52:37Z', cpuSeconds: 0.047619233 },
      memoryBytes: 8609792,
      processes: null,
      sidecars: new Map([
        ['mesh-proxy', { cpuSeconds: 0.053382243, memoryBytes: 8654848 }],
        ['kube-rbac-proxy', { cpuSeconds: 0.060573069, memoryBytes: 8523776 }],
      ]),
    });
  });

  it('from the metrics API are those of the DNS container, too', () => {
    const [window] = parsePodMetrics(fixture('pod-metrics.json'), containers);
    expect(window).toMatchObject({ pod: NAME, cpuCores: 252241e-9, memoryBytes: 8408 * 1024 });
    expect(window?.sidecars.map(({ name }) => name)).toEqual(['kube-rbac-proxy', 'mesh-proxy']);
  });

  it("have no throttling where cAdvisor knows only the pod's, which includes the sidecars", () => {
    const text = fixture('cadvisor.txt');
    expect(parseThrottling(text, 'fixture', new Map([[NAME, null]])).get(NAME)).toMatchObject({
      periods: 59,
      throttledPeriods: 6,
    });
    expect(parseThrottling(text, 'fixture', containers).size).toBe(0);
    // Where it knows containers, the DNS container's line counts and not another's.
    const labelled = ['dns', 'mesh-proxy'].flatMap((container, index) =>
      text
        .split('\n')
        .filter((line) => line.includes(`namespace="fixture"`))
        .map((line) =>
          line.replace('container=""', `container="${container}"`).replace(' 59 ', ` ${60 + index} `),
        ),
    );
    const reading = parseThrottling(labelled.toReversed().join('\n'), 'fixture', containers).get(NAME);
    expect(reading?.periods).toBe(60);
  });

  it('are missing while the DNS container has none, whatever the others have', () => {
    expect(parseSummary(fixture('summary.json'), 'fixture', new Map([[NAME, 'gone']])).size).toBe(0);
    expect(parsePodMetrics(fixture('pod-metrics.json'), new Map([[NAME, 'gone']]))).toEqual([]);
    expect(parseSummary(fixture('summary.json'), 'fixture', new Map()).size).toBe(0);
  });

  it('report each sidecar apart over a trial', () => {
    const end = parseSummary(fixture('summary.json'), 'fixture', containers);
    const [reading] = end.values();
    if (reading === undefined) throw new Error('no reading');
    const earlier = (seconds: number) => ({
      ...reading,
      cpu: { stamp: 'before', cpuSeconds: reading.cpu.cpuSeconds - 0.04 },
      sidecars: new Map(
        [...reading.sidecars].map(([name, side]) => [
          name,
          { ...side, cpuSeconds: side.cpuSeconds - seconds },
        ]),
      ),
    });
    const begin = new Map([[NAME, earlier(0.02)]]);
    const figures = podFigures({
      pods: [{ name: NAME, node: 'bench-node', container: 'dns' }],
      startedAt: 0,
      endedAt: 2,
      usage: { begin: { values: begin, stale: [] }, end: { values: end, stale: [] } },
      throttling: { begin: null, end: null },
      samples: [],
    });
    expect(figures?.observation.cpuCores).toBeCloseTo(0.02);
    expect(figures?.observation.memoryBytes?.max).toBe(8609792);
    const [instance] = figures?.instances ?? [];
    expect(instance?.cpuCores).toBeCloseTo(0.02);
    expect(instance?.sidecars?.map(({ name, cpuCores }) => [name, Number(cpuCores.toFixed(6))])).toEqual([
      ['mesh-proxy', 0.01],
      ['kube-rbac-proxy', 0.01],
    ]);
  });
});

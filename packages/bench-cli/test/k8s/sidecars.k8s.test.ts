/** A pod whose sidecar works while the DNS server idles, seen by a real kubelet: nobody's CPU is charged to another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { observePods } from '../../src/observe/kubernetes/observe-pods.ts';
import { type PodPlace, podSource } from '../../src/observe/kubernetes/pod-source.ts';
import { observedContainer } from '../../src/targets/kubernetes/dns-container.ts';
import { adminClient, core, suiteName } from './support/admin.ts';

const POD = 'sidecars';
const PORT = 5353;
/** The sidecar's limit, which it uses up. */
const SIDECAR_CORES = 0.2;
/** Any image with Node.js will do. */
const image = process.env.DINODNS_BENCH_DINODNS_IMAGE ?? 'dinodns-bench/server:0.1.0';

const container = (name: string, program: string) => ({
  name,
  image,
  imagePullPolicy: 'IfNotPresent',
  command: ['node', '-e', program],
  resources: { limits: { cpu: `${SIDECAR_CORES * 1000}m` } },
});

async function place(): Promise<PodPlace> {
  const pod = await core().readNamespacedPod({ name: POD, namespace: suiteName() });
  const node = pod.spec?.nodeName ?? '';
  return { name: POD, node, container: observedContainer(pod, PORT) };
}

describe('a pod with a busy sidecar', () => {
  beforeAll(async () => {
    const idle = container('dns', 'setInterval(() => {}, 1000)');
    await core().createNamespacedPod({
      namespace: suiteName(),
      body: {
        metadata: { name: POD },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            container('proxy', 'for (;;);'),
            { ...idle, ports: [{ containerPort: PORT, protocol: 'UDP' }] },
          ],
        },
      },
    });
  });
  afterAll(() => core().deleteNamespacedPod({ name: POD, namespace: suiteName() }));

  it('has the CPU of its DNS container, and the sidecar apart', async () => {
    await expect
      .poll(async () => {
        const { status } = await core().readNamespacedPod({ name: POD, namespace: suiteName() });
        return status?.containerStatuses?.filter(({ ready }) => ready).length;
      })
      .toBe(2);
    const client = await adminClient();
    const signal = AbortSignal.timeout(200_000);
    const pod = await place();
    expect(pod.container).toBe('dns');
    const source = podSource(client, suiteName(), [pod], signal);
    const window = await observePods({ clock: client.clock, source, pods: [pod], loadSeconds: 10, signal });
    window.started?.();
    await client.clock.sleep(10, signal);
    const seen = await window.end();
    expect(seen?.cpuSource).toBe('kubelet-summary');
    expect(seen?.cpuCores).toBeLessThan(SIDECAR_CORES / 4);
    const [sidecar, ...others] = window.instances?.()?.[0]?.sidecars ?? [];
    expect(others).toEqual([]);
    expect(sidecar?.name).toBe('proxy');
    // The counters are read some seconds before and after the load, in which it works as well. A busy node may give it less.
    expect(sidecar?.cpuCores).toBeGreaterThan(SIDECAR_CORES / 2);
    expect(sidecar?.memoryBytes).toBeGreaterThan(2 ** 20);
  });
});

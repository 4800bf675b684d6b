import type { V1ContainerState, V1ContainerStatus, V1Pod } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import type { ClusterRun } from '../src/targets/kubernetes/cluster-run.ts';
import { adoptService } from '../src/targets/kubernetes/existing-service.ts';
import { demandOneImage } from '../src/targets/kubernetes/inspect-images.ts';
import { openClient } from '../src/targets/kubernetes/open-cluster.ts';
import {
  assessAdoptedPod,
  assessCreation,
  assessPod,
  assessRunningPod,
  isOnLostNode,
} from '../src/targets/kubernetes/pod-state.ts';
import { runOnce } from '../src/targets/kubernetes/run-job.ts';
import { waitForPods } from '../src/targets/kubernetes/wait-for-pods.ts';
import type { DeployRequest } from '../src/targets/target.ts';
import { answer, worldOfApi } from './support/api-server.ts';
import { jobCluster } from './support/job-cluster.ts';

interface Given {
  state?: V1ContainerState;
  lastState?: V1ContainerState;
  restartCount?: number;
  ready?: boolean;
  unschedulable?: string;
  phase?: string;
  reason?: string;
  deleted?: boolean;
}

function pod(given: Given): V1Pod {
  const { state, lastState, restartCount = 0, ready = false, unschedulable, phase, reason, deleted } = given;
  const status: V1ContainerStatus = {
    name: 'main',
    image: 'i',
    imageID: '',
    ready,
    restartCount,
    ...(state === undefined ? {} : { state }),
    ...(lastState === undefined ? {} : { lastState }),
  };
  return {
    metadata: { name: 'p', ...(deleted ? { deletionTimestamp: new Date(0) } : {}) },
    spec: { containers: [{ name: 'main', image: 'registry.example/x:1' }] },
    status: {
      ...(phase === undefined ? {} : { phase }),
      ...(reason === undefined ? {} : { reason }),
      containerStatuses: state === undefined && lastState === undefined ? [] : [status],
      conditions: [
        { type: 'Ready', status: ready ? 'True' : 'False' },
        ...(unschedulable === undefined
          ? []
          : [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unschedulable }]),
      ],
    },
  };
}

const waiting = (reason: string, message = '') => ({ waiting: { reason, message } });
const terminated = (exitCode: number, reason = 'Error') => ({ terminated: { exitCode, reason } });
const running = { running: {} };

describe('a pod on a node that is lost', () => {
  const lost = (given: Given, isReady = false) => {
    const { status, ...rest } = pod({ ...given, ready: true });
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    return isOnLostNode({ ...rest, status: { ...status, conditions } });
  };

  it('runs and is ready by the last word of its kubelet, and is not by that of the node controller', () => {
    expect(lost({ state: running })).toBe(true);
    expect(lost({ state: running }, true)).toBe(false);
    expect(lost({ state: running, deleted: true })).toBe(false);
    expect(lost({ state: terminated(0) })).toBe(false);
    // By its kubelet: it is being started, or its container has just ended.
    expect(isOnLostNode(pod({ state: running }))).toBe(false);
    expect(isOnLostNode(pod({}))).toBe(false);
  });

  it('fails at once, with the name of the node, if a Job waits for its end', async () => {
    const { world, client, print, loseNode } = await jobCluster();
    const run = {
      ...{
        world,
        client,
        runId: 'run',
        namespace: 'n',
        settings: kubernetesOf({}),
        pullSecrets: [],
        jobs: 0,
      },
    } as unknown as ClusterRun;
    const started = Promise.withResolvers<void>();
    const outcome = runOnce(run, {
      ...{ name: 'load', label: 'loader', image: 'i', what: 'the loader', runSeconds: 600 },
      signal: new AbortController().signal,
      onLine: () => started.resolve(),
    });
    print('sending\n');
    await started.promise;
    loseNode();
    await expect(outcome).rejects.toMatchObject({
      code: 'E_LOADER_FAILED',
      message: expect.stringContaining('ran on node node-1, which does not answer any more'),
      fix: expect.stringContaining('kubectl describe node node-1'),
    });
  });
});

describe('the state of a pod', () => {
  it.each([
    ['ImagePullBackOff', 'E_POD_IMAGE'],
    ['ErrImageNeverPull', 'E_POD_IMAGE'],
    ['InvalidImageName', 'E_POD_IMAGE'],
    ['CreateContainerConfigError', 'E_SERVER_START'],
    ['CrashLoopBackOff', 'E_SERVER_START'],
  ])('%s cannot recover', (reason, code) => {
    const verdict = assessPod(pod({ state: waiting(reason, 'why'), lastState: terminated(3) }));
    expect(verdict).toMatchObject({ kind: 'failed', code, reason, message: expect.stringContaining(reason) });
  });

  it('names the image that cannot be had, and the exit status of what crashes', () => {
    expect(assessPod(pod({ state: waiting('ImagePullBackOff', 'not found') }))).toMatchObject({
      message: 'cannot get its image registry.example/x:1 (ImagePullBackOff): not found',
    });
    expect(assessPod(pod({ state: waiting('CrashLoopBackOff'), lastState: terminated(3) }))).toMatchObject({
      message: expect.stringContaining('exit status 3'),
    });
  });

  it.each(['ContainerCreating', 'PodInitializing', 'ErrImagePull'])('%s may pass', (reason) => {
    expect(assessPod(pod({ state: waiting(reason) }))).toMatchObject({ kind: 'waiting' });
  });

  it('sees what keeps a container from starting that the main one waits for', () => {
    const sidecar = { name: 'dnsmasq', image: 'dnsmasq:1', imageID: '', ready: false, restartCount: 0 };
    const blocked = (state: V1ContainerState): V1Pod => {
      const base = pod({ state: waiting('PodInitializing') });
      return { ...base, status: { ...base.status, initContainerStatuses: [{ ...sidecar, state }] } };
    };
    expect(assessPod(blocked(waiting('ImagePullBackOff')))).toMatchObject({
      code: 'E_POD_IMAGE',
      message: expect.stringContaining('dnsmasq:1'),
    });
    expect(assessPod(blocked(running)).kind).toBe('waiting');
  });

  it('tells memory that ran out from other ends, also behind a crash loop', () => {
    const oom = { kind: 'failed', code: 'E_SERVER_DIED', reason: 'OOMKilled' };
    expect(assessPod(pod({ state: terminated(137, 'OOMKilled') }))).toMatchObject(oom);
    const again = { state: waiting('CrashLoopBackOff'), lastState: terminated(137, 'OOMKilled') };
    expect(assessPod(pod(again))).toMatchObject(oom);
    expect(assessPod(pod({ state: terminated(1) }))).toMatchObject({ code: 'E_SERVER_START' });
    expect(assessPod(pod({ state: terminated(0, 'Completed') }))).toEqual({ kind: 'ended' });
  });

  it('knows what no node takes, what was evicted, what is ready', () => {
    expect(assessPod(pod({ unschedulable: '0/1 nodes: Insufficient cpu' }))).toEqual({
      kind: 'unschedulable',
      reason: '0/1 nodes: Insufficient cpu',
    });
    expect(assessPod(pod({ phase: 'Failed', reason: 'Evicted' }))).toMatchObject({
      kind: 'failed',
      reason: 'Evicted',
    });
    expect(assessPod(pod({ state: running, ready: true }))).toEqual({ kind: 'ready' });
    expect(assessPod(pod({ phase: 'Pending' }))).toEqual({ kind: 'waiting', reason: 'Pending' });
  });

  it('while it is measured: any change is a death', () => {
    expect(assessRunningPod(pod({ state: running, ready: true }))).toBeNull();
    for (const [given, reason] of [
      [{ state: running, ready: true, deleted: true }, 'Deleted'],
      [{ state: running, ready: true, restartCount: 1 }, 'Restarted'],
      [{ state: running, ready: false }, 'NotReady'],
      [{ state: terminated(0, 'Completed') }, 'Completed'],
      [{ state: terminated(2) }, 'Error'],
    ] as const) {
      expect(assessRunningPod(pod(given))).toMatchObject({ code: 'E_SERVER_DIED', reason });
    }
  });

  it('while it is measured: the restart of any of its containers is a death', () => {
    const base = pod({ state: running, ready: true });
    const sidecar = {
      name: 'sidecar',
      image: 's',
      imageID: '',
      ready: true,
      restartCount: 1,
      state: running,
    };
    const statuses = [...(base.status?.containerStatuses ?? []), sidecar];
    expect(
      assessRunningPod({ ...base, status: { ...base.status, containerStatuses: statuses } }),
    ).toMatchObject({ code: 'E_SERVER_DIED', reason: 'Restarted' });
  });

  it('of a pod that is not ours: its past does not count', () => {
    const old = { state: running, lastState: terminated(1), ready: true, restartCount: 4 };
    expect(assessAdoptedPod(pod(old), 4)).toBeNull();
    expect(assessAdoptedPod(pod(old), 3)).toMatchObject({ reason: 'Restarted' });
    expect(assessAdoptedPod(pod({ ...old, ready: false }), 4)).toMatchObject({ reason: 'NotReady' });
    expect(assessAdoptedPod(pod({ ...old, deleted: true }), 4)).toMatchObject({ reason: 'Deleted' });
  });
});

describe('the pods of a Service that was there before', () => {
  const found = (uid: string): V1Pod => ({
    metadata: { name: `dns-${uid}`, uid, labels: { app: 'dns' } },
    spec: { nodeName: `node-${uid}`, containers: [{ name: 'main' }] },
    status: { podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const unready = (uid: string): V1Pod => ({
    ...found(uid),
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  });

  async function observed(before: V1Pod[], after: V1Pod[]) {
    const service = { spec: { clusterIP: '10.1.0.1', ports: [{ port: 53 }], selector: { app: 'dns' } } };
    let items = before;
    const world = await worldOfApi(({ url = '' }, response) => {
      if (url.includes('/services/')) answer(response, 200, service);
      else if (url.includes('watch=')) response.flushHeaders();
      else answer(response, 200, { items, metadata: { resourceVersion: '1' } });
    });
    const run = {
      ...{ world, client: await openClient(world, undefined), settings: kubernetesOf({}) },
      ...{ placement: { servers: new Set() }, nodeCpus: new Map(), observation: 'none', loadSeconds: 1 },
    } as unknown as ClusterRun;
    const request = {
      ...{ server: { name: 'theirs' }, signal: new AbortController().signal, logDirectory: world.directory },
    } as unknown as DeployRequest;
    const place = { kind: 'service', namespace: 'n', name: 'dns', port: 53 } as const;
    const deployment = await adoptService(run, request, place);
    const window = await deployment.observe();
    items = after;
    return window.end().finally(() => deployment.remove());
  }

  it('are those that were found, or the trial has failed: one that joined was loaded and is in no figure', async () => {
    const [a, b] = [found('a'), found('b')];
    await expect(observed([a, unready('b')], [a, unready('b')])).resolves.toBeNull();
    await expect(observed([a, unready('b')], [a, b])).rejects.toMatchObject({
      code: 'E_CLUSTER_CHANGED',
      message: expect.stringMatching(/^theirs: the ready pods behind its Service changed/),
      evidence: ['pod dns-b on node node-b joined'],
    });
    await expect(observed([a, b], [a, found('c')])).rejects.toMatchObject({
      evidence: ['pod dns-c on node node-c joined', 'pod dns-b on node node-b left'],
    });
  });
});

it('a pod that is not ready in time is named with its node', async () => {
  const slow = pod({ state: waiting('ContainerCreating') });
  const items = [{ ...slow, spec: { ...slow.spec, nodeName: 'node-1' } }];
  const world = await worldOfApi(({ url = '' }, response) => {
    if (url.includes('watch=')) response.flushHeaders();
    else answer(response, 200, { items: url.includes('/pods') ? items : [], metadata: {} });
  });
  const selection = { client: await openClient(world, undefined), namespace: 'n', labels: {}, what: 'nsd' };
  const options = { pods: 1, seconds: 0.2, scheduleSeconds: 60 };
  await expect(
    waitForPods({ ...selection, signal: new AbortController().signal }, 'nsd', options),
  ).rejects.toMatchObject({ code: 'E_POD_TIMEOUT', evidence: ['pod p on node node-1: ContainerCreating'] });
});

describe('what keeps pods from being created', () => {
  it.each([
    [
      'pods "x" is forbidden: exceeded quota: q, requested: limits.cpu=1, used: 0, limited: 500m',
      'E_CLUSTER_QUOTA',
    ],
    ['pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot', 'E_CLUSTER_REFUSED'],
    ['admission webhook "deny.example" denied the request', 'E_CLUSTER_REFUSED'],
  ])('%s', (message, code) => {
    expect(assessCreation(message)).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('may pass: an account that is not there yet', () => {
    expect(assessCreation('error looking up service account run/default: not found')).toBeNull();
  });
});

describe('one tag on several nodes', () => {
  const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
  const demandOn = (architectures: readonly string[], images: readonly string[]) =>
    demandOneImage(
      'registry.example/dns:1',
      'coredns',
      images.map((image, index) => ({
        image,
        node: `n${index}`,
        architecture: architectures[index] ?? 'amd64',
      })),
    );
  const demand = (...images: string[]) => demandOn([], images);

  it('is refused with the nodes where it stands for different images', () => {
    expect(() =>
      demand(`registry.example/dns@${digest('a')}`, `registry.example/dns@${digest('b')}`),
    ).toThrow(
      expect.objectContaining({
        code: 'E_POD_IMAGE',
        evidence: [`node n0 has ${digest('a')}`, `node n1 has ${digest('b')}`],
      }),
    );
    expect(() => demand(digest('a'), digest('b'))).toThrow('coredns: registry.example/dns:1 is not the same');
  });

  it('is compared among nodes of one architecture only', () => {
    const images = ['a', 'b', 'a'].map(digest);
    demandOn(['amd64', 'arm64', 'amd64'], images);
    expect(() => demandOn(['amd64', 'arm64', 'arm64'], images)).toThrow('is not the same image');
  });

  it('is accepted where they are the same, or cannot be told apart', () => {
    demand(`registry.example/dns@${digest('a')}`, `mirror.example/dns@${digest('a')}`, digest('c'), 'dns:1');
  });
});

/** An API server that keeps objects and runs Jobs: the pod of each is ready at once, and prints and ends as the test says. */
import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { KubernetesObject, V1ContainerState, V1Job, V1Pod } from '@kubernetes/client-node';
import type { KubeClient } from '../../src/kubernetes-api/client.ts';
import { openClient } from '../../src/targets/kubernetes/open-cluster.ts';
import { answer, worldOfApi } from './api-server.ts';
import type { TestWorld } from './test-world.ts';

export interface JobCluster {
  readonly world: TestWorld;
  readonly client: KubeClient;
  /** By their paths. */
  readonly objects: Map<string, KubernetesObject>;
  /** Lines of the pod's log, which end with its end. */
  print(text: string): void;
  /** Of the first container of each pod; `reason` is that of Kubernetes where it ended the pod. */
  end(terminated: NonNullable<V1ContainerState['terminated']>, reason?: string): void;
  /** The node of all pods: they are unready, and nothing more is heard of them. */
  loseNode(): void;
}

export async function jobCluster(): Promise<JobCluster> {
  const objects = new Map<string, KubernetesObject>();
  const watches = new Map<ServerResponse, string>();
  const logs = new Set<ServerResponse>();
  let log = '';
  let isEnded = false;

  /** A watch begins after the version that its list had, as on a real one: no change is missed between the two. */
  const changes: { readonly path: string; readonly object: KubernetesObject }[] = [];
  const tell = (response: ServerResponse, of: string, since: number) => {
    for (const { path, object } of changes.slice(since))
      if (path.startsWith(`${of}/`)) response.write(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
  };

  function keep(path: string, object: KubernetesObject): void {
    objects.set(path, object);
    changes.push({ path, object });
    for (const [response, of] of watches) tell(response, of, changes.length - 1);
  }

  function runPod({ metadata, spec }: V1Job): void {
    const name = `${metadata?.name}-pod`;
    const labels = { ...metadata?.labels };
    const [first] = spec?.template.spec?.containers ?? [];
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: first?.name ?? '', ready: true, state: { running: {} } }],
    } as V1Pod['status'];
    keep(`/api/v1/namespaces/${metadata?.namespace}/pods/${name}`, {
      ...{ metadata: { name, labels }, spec: { ...spec?.template.spec, nodeName: 'node-1' }, status },
    } as V1Pod);
  }

  const isChosen = ({ metadata }: KubernetesObject, selector: string) =>
    selector
      .split(',')
      .filter(Boolean)
      .every((each) => `${metadata?.labels?.[each.split('=')[0] ?? '']}` === each.split('=')[1]);

  const world = await worldOfApi(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '', 'http://test');
    if (request.method === 'POST') {
      const object = (await json(request)) as KubernetesObject;
      keep(`${path}/${object.metadata?.name}`, object);
      if (path.endsWith('/jobs')) runPod(object as V1Job);
      return answer(response, 201, object);
    }
    if (request.method === 'DELETE') {
      objects.delete(path);
      return answer(response, 200, {});
    }
    if (path.endsWith('/log')) {
      response.write(log);
      if (isEnded) response.end();
      return void logs.add(response);
    }
    if (searchParams.has('watch')) {
      response.flushHeaders();
      tell(response, path, Number(searchParams.get('resourceVersion')));
      return void watches.set(response, path);
    }
    const items = [...objects].flatMap(([at, object]) =>
      at.startsWith(`${path}/`) && isChosen(object, searchParams.get('labelSelector') ?? '') ? [object] : [],
    );
    answer(response, 200, { items, metadata: { resourceVersion: String(changes.length) } });
  });
  return {
    ...{ world, objects, client: await openClient(world, undefined) },
    print(text) {
      log += text;
      for (const response of logs) response.write(text);
    },
    end(terminated, reason) {
      for (const [path, object] of objects) {
        const { status, ...pod } = object as V1Pod;
        if (!path.includes('/pods/')) continue;
        const [first] = status?.containerStatuses ?? [];
        keep(path, {
          ...pod,
          status: {
            ...{ ...status, ...(reason && { reason, phase: 'Failed' }) },
            containerStatuses: [{ ...first, state: { terminated } }],
          },
        } as V1Pod);
      }
      isEnded = true;
      for (const response of logs) response.end();
    },
    loseNode() {
      for (const [path, object] of objects) {
        const { status, ...pod } = object as V1Pod;
        if (!path.includes('/pods/')) continue;
        const conditions = [{ type: 'Ready', status: 'False' }];
        keep(path, { ...pod, status: { ...status, conditions } } as V1Pod);
      }
    },
  };
}

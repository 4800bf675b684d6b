/** The client against an API server of this file's making, which is busy, away, or breaks off: as real ones are. */
import { describe, expect, it } from 'vitest';
import { patch, read } from '../src/cluster-changes/cluster-api.ts';
import { connectedApi, explainRefusal } from '../src/cluster-changes/connected-api.ts';
import { KUBERNETES_DEFAULTS } from '../src/config/kubernetes-settings.ts';
import { apiErrorOf, explainApiError } from '../src/kubernetes-api/api-error.ts';
import { pauseAfter } from '../src/kubernetes-api/backoff.ts';
import { createClient, type KubeClient } from '../src/kubernetes-api/client.ts';
import { type Connection, connect } from '../src/kubernetes-api/connect.ts';
import { followLog, lastLogLines } from '../src/kubernetes-api/logs.ts';
import { follow } from '../src/kubernetes-api/watch.ts';
import { describeCluster } from '../src/targets/kubernetes/cluster-facts.ts';
import type { Clock } from '../src/world.ts';
import { answer, type Handler, refusal, worldOfApi } from './support/api-server.ts';

async function connectionTo(handler: Handler): Promise<{ connection: Connection; clock: Clock }> {
  const world = await worldOfApi(handler);
  return { connection: await connect(world, undefined), clock: world.clock };
}

async function clientOf(handler: Handler, awaySeconds = 20): Promise<KubeClient> {
  const { connection, clock } = await connectionTo(handler);
  return createClient(connection, { clock, awaySeconds });
}

const { signal } = new AbortController();

describe('the record of a cluster', () => {
  const clusterOf = async (openshift: unknown) => {
    const client = await clientOf(({ url = '' }, response) => {
      if (url === '/version') answer(response, 200, { gitVersion: 'v1.34.4' });
      else if (url === '/apis/config.openshift.io/v1/clusterversions/version' && openshift !== null)
        answer(response, 200, openshift);
      else if (url.startsWith('/api/v1/nodes')) answer(response, 200, { items: [], metadata: {} });
      else answer(response, 404, refusal(404, 'NotFound', 'none'));
    });
    return (await describeCluster(client, KUBERNETES_DEFAULTS, signal)).cluster;
  };

  it('has its context, its API server, and the version of OpenShift where it is one', async () => {
    const cluster = await clusterOf({ status: { desired: { version: '4.18.2' } } });
    expect(cluster).toMatchObject({
      version: 'v1.34.4',
      context: 'test',
      server: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      openshiftVersion: '4.18.2',
    });
  });

  it.each([null, { status: {} }])('has no version of OpenShift elsewhere: %j', async (openshift) => {
    expect((await clusterOf(openshift)).openshiftVersion).toBeNull();
  });
});

describe('a request', () => {
  it('is repeated when the server is busy, in trouble, or breaks off', async () => {
    const seen: number[] = [];
    const client = await clientOf((request, response) => {
      seen.push(Date.now());
      if (seen.length === 1)
        answer(response, 429, refusal(429, 'TooManyRequests', 'slow'), { 'retry-after': '1' });
      else if (seen.length === 2) answer(response, 503, refusal(503, 'ServiceUnavailable', 'starting'));
      else if (seen.length === 3) request.socket.destroy();
      else answer(response, 200, { metadata: { name: 'n' } });
    });
    expect(await client.get('Namespace', 'n', undefined, signal)).toMatchObject({ metadata: { name: 'n' } });
    expect(seen).toHaveLength(4);
    // The pause that the server asked for is kept.
    expect((seen[1] ?? 0) - (seen[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('that creates takes what exists for its own only if an answer was lost', async () => {
    let creations = 0;
    const object = { metadata: { name: 's', namespace: 'n' } };
    const client = await clientOf((request, response) => {
      if (request.method === 'GET')
        return answer(response, 200, { ...object, spec: { clusterIP: '10.0.0.1' } });
      creations += 1;
      if (creations === 1) return request.socket.destroy();
      return answer(response, 409, refusal(409, 'AlreadyExists', 'services "s" already exists'));
    });
    expect(await client.create('Service', object, signal)).toMatchObject({ spec: { clusterIP: '10.0.0.1' } });
    await expect(client.create('Service', object, signal)).rejects.toMatchObject({
      code: 'E_CLUSTER_REFUSED',
    });
  });

  it('that is not there to be got or deleted is no error', async () => {
    const client = await clientOf((_, response) => answer(response, 404, refusal(404, 'NotFound', 'gone')));
    expect(await client.get('Pod', 'p', 'n', signal)).toBeNull();
    await client.delete('Pod', 'p', 'n', signal);
  });

  it('is repeated when the server has just started and has not read the roles', async () => {
    let requests = 0;
    const client = await clientOf((request, response) => {
      if (request.url === '/readyz') return answer(response, 200, 'ok');
      requests += 1;
      // As Kubernetes 1.34 says it in the first seconds after its API server was killed.
      const message =
        'pods is forbidden: User "u" cannot list resource "pods" in API group "": RBAC: ' +
        '[clusterrole.rbac.authorization.k8s.io "bench" not found, ' +
        'clusterrole.rbac.authorization.k8s.io "system:basic-user" not found]';
      if (requests === 1) answer(response, 403, refusal(403, 'Forbidden', message));
      else answer(response, 200, { items: [] });
    });
    expect(await client.list('Pod', {}, signal)).toMatchObject({ items: [] });
    expect(requests).toBe(2);
  });

  it('that is forbidden is repeated while the server is not ready', async () => {
    const asked: string[] = [];
    const client = await clientOf((request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      if (path === '/readyz') answer(response, 500, 'informer-sync failed');
      else if (asked.length === 1) answer(response, 403, refusal(403, 'Forbidden', 'pods is forbidden'));
      else answer(response, 200, { items: [] });
    });
    expect(await client.list('Pod', {}, signal)).toMatchObject({ items: [] });
    expect(asked).toEqual(['/api/v1/pods', '/readyz', '/api/v1/pods']);
  });

  it('that is forbidden is repeated by a server that became ready after it refused', async () => {
    const asked: string[] = [];
    const client = await clientOf((request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      if (path === '/readyz') answer(response, 200, 'ok');
      else if (asked.length === 1) answer(response, 403, refusal(403, 'Forbidden', 'pods is forbidden'));
      else answer(response, 200, { items: [] });
    });
    expect(await client.list('Pod', {}, signal)).toMatchObject({ items: [] });
    expect(asked).toEqual(['/api/v1/pods', '/readyz', '/api/v1/pods']);
  });

  it('that is forbidden is repeated by a server that was away a moment ago, although it is ready', async () => {
    let requests = 0;
    const client = await clientOf((request, response) => {
      if (request.url === '/readyz') return answer(response, 200, 'ok');
      requests += 1;
      if (requests === 1) request.socket.destroy();
      else if (requests < 6) answer(response, 403, refusal(403, 'Forbidden', 'pods is forbidden'));
      else answer(response, 200, { items: [] });
    });
    expect(await client.list('Pod', {}, signal)).toMatchObject({ items: [] });
    expect(requests).toBe(6);
  });

  it('that is refused for a binding to a role that was deleted is repeated once', async () => {
    let requests = 0;
    const client = await clientOf((request, response) => {
      if (request.url === '/readyz') return answer(response, 200, 'ok');
      requests += 1;
      const message =
        'pods is forbidden: User "u" cannot list resource "pods": RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found';
      answer(response, 403, refusal(403, 'Forbidden', message));
    });
    await expect(client.list('Pod', {}, signal)).rejects.toMatchObject({ code: 'E_CLUSTER_FORBIDDEN' });
    expect(requests).toBe(2);
  });

  it('that is forbidden names verb and resource, at once', async () => {
    let requests = 0;
    const client = await clientOf((request, response) => {
      if (request.url === '/readyz') return answer(response, 200, 'ok');
      requests += 1;
      answer(response, 403, refusal(403, 'Forbidden', 'jobs.batch is forbidden: User "u" cannot create'));
    });
    await expect(
      client.create('Job', { metadata: { name: 'j', namespace: 'n' } }, signal),
    ).rejects.toMatchObject({
      code: 'E_CLUSTER_FORBIDDEN',
      message: 'this user may not create jobs in namespace n',
      exitStatus: 3,
    });
    expect(requests).toBe(2);
  });

  it('gives up a server that stays away, and says which', async () => {
    const client = await clientOf((request) => request.socket.destroy(), 1);
    await expect(client.list('Node', {}, signal)).rejects.toMatchObject({
      code: 'E_CLUSTER_UNREACHABLE',
      message: expect.stringMatching(/no answer from http:\/\/127\.0\.0\.1:\d+/),
    });
  });

  it('stops when it is told to', async () => {
    const client = await clientOf((_, response) => answer(response, 503, {}));
    const abort = new AbortController();
    const listing = client.list('Node', {}, abort.signal);
    setTimeout(() => abort.abort(new Error('enough')), 100);
    await expect(listing).rejects.toThrow('enough');
  });
});

describe('a request for a change', () => {
  it('is repeated while nobody answers, while the server is in trouble, and while it has not read the roles', async () => {
    const asked: string[] = [];
    const { connection, clock } = await connectionTo((request, response) => {
      const path = request.url ?? '';
      asked.push(path);
      if (path === '/readyz') answer(response, 500, 'informer-sync failed');
      else if (asked.length === 1) request.socket.destroy();
      else if (asked.length === 2) answer(response, 503, refusal(503, 'ServiceUnavailable', 'starting'));
      else if (asked.length === 3) answer(response, 403, refusal(403, 'Forbidden', 'x is forbidden'));
      else answer(response, 200, { metadata: { name: 'x' } });
    });
    const api = connectedApi(connection, clock, signal);
    expect(await patch(api, '/apis/apps/v1/namespaces/n/deployments/x', [])).toMatchObject({
      metadata: { name: 'x' },
    });
    expect(asked.filter((path) => path !== '/readyz')).toHaveLength(4);
  });

  it('that is forbidden names the right and its object', async () => {
    const { connection, clock } = await connectionTo((request, response) => {
      if (request.url === '/readyz') answer(response, 200, 'ok');
      else answer(response, 403, refusal(403, 'Forbidden', 'x is forbidden'));
    });
    const api = connectedApi(connection, clock, signal);
    const refused = async (path: string) => {
      try {
        return await read(api, path);
      } catch (error) {
        return explainRefusal(error);
      }
    };
    expect(await refused('/apis/operator.openshift.io/v1/dnses/default')).toMatchObject({
      code: 'E_CLUSTER_FORBIDDEN',
      message: 'this user may not get dnses.operator.openshift.io default',
    });
    expect(await refused('/api/v1/namespaces/n/configmaps')).toMatchObject({
      message: 'this user may not get configmaps in namespace n',
    });
  });
});

describe('a watch', () => {
  const pod = (name: string, phase: string) => ({ metadata: { name }, status: { phase } });

  it('goes on after the server has closed it, forgotten the version, or broken off', async () => {
    let lists = 0;
    let watches = 0;
    const client = await clientOf((request, response) => {
      if (!request.url?.includes('watch=true')) {
        lists += 1;
        return answer(response, 200, {
          metadata: { resourceVersion: String(lists) },
          items: [pod('a', `list ${lists}`)],
        });
      }
      watches += 1;
      response.writeHead(200);
      if (watches === 1) {
        response.write(`${JSON.stringify({ type: 'ADDED', object: pod('b', 'new') })}\n`);
        return void setTimeout(() => response.destroy(), 50);
      }
      if (watches === 2) {
        const gone = { type: 'ERROR', object: refusal(410, 'Expired', 'too old') };
        return response.end(`${JSON.stringify(gone)}\n`);
      }
      response.write(`${JSON.stringify({ type: 'DELETED', object: pod('a', 'list 3') })}\n`);
    });
    const seen: string[] = [];
    for await (const { objects, deleted } of follow(client, { kind: 'Pod', namespace: 'n', signal })) {
      seen.push(
        `${objects.map(({ metadata, status }) => `${metadata?.name}:${status?.phase}`).join(' ')}${deleted === null ? '' : ` -${deleted.metadata?.name}`}`,
      );
      if (objects.length === 0) break;
    }
    // What vanished while nobody watched is told, too.
    expect(seen).toEqual(['a:list 1', 'a:list 1 b:new', 'a:list 2 -b', 'a:list 2', 'a:list 3', ' -a']);
  });

  it('that is forbidden fails, naming it', async () => {
    const client = await clientOf((request, response) => {
      if (request.url?.includes('watch=true')) answer(response, 403, refusal(403, 'Forbidden', 'no'));
      else answer(response, 200, { items: [] });
    });
    const changes = follow(client, { kind: 'Pod', namespace: 'n', signal });
    await changes.next();
    await expect(changes.next()).rejects.toMatchObject({
      message: 'this user may not watch pods in namespace n',
    });
  });
});

describe('a log', () => {
  it('is passed on once, line by line, though the connection breaks in the middle', async () => {
    let reads = 0;
    const lines = ['one', 'two', 'three', 'four'];
    const client = await clientOf((_, response) => {
      reads += 1;
      response.writeHead(200);
      if (reads === 1) {
        response.write('one\ntwo\nthr');
        setTimeout(() => response.destroy(), 50);
      } else {
        response.end(`${lines.join('\n')}\n`);
      }
    });
    const seen: string[] = [];
    const reference = { namespace: 'n', pod: 'p', container: 'main' };
    await followLog(client, reference, { onLine: (text) => seen.push(text), ended: () => reads > 1, signal });
    expect(seen).toEqual(lines);
  });

  it('is waited for while the kubelet has not heard of the pod, or has not started its container', async () => {
    const early = [
      [404, 'the server could not find the requested resource ( pods/log p)'],
      [400, 'container "main" in pod "p" is waiting to start: ContainerCreating'],
    ] as const;
    let reads = 0;
    const client = await clientOf((_, response) => {
      const [status, message] = early[reads] ?? [200, ''];
      reads += 1;
      if (status !== 200) answer(response, status, refusal(status, 'NotFound', message));
      else response.writeHead(200).end('one\n');
    });
    const seen: string[] = [];
    const reference = { namespace: 'n', pod: 'p', container: 'main' };
    await followLog(client, reference, { onLine: (text) => seen.push(text), ended: () => reads > 2, signal });
    expect(seen).toEqual(['one']);
  });

  it('of a pod that does not exist fails', async () => {
    const client = await clientOf((_, response) =>
      answer(response, 404, refusal(404, 'NotFound', 'pods "p" not found')),
    );
    const reference = { namespace: 'n', pod: 'p', container: 'main' };
    const following = followLog(client, reference, { onLine: () => undefined, ended: () => false, signal });
    await expect(following).rejects.toMatchObject({ evidence: ['pods "p" not found'] });
  });
});

it('the last lines of a log are not waited for while their kubelet is lost', async () => {
  const client = await clientOf((_, response) => answer(response, 503, refusal(503, '', 'no route to host')));
  const reference = { namespace: 'n', pod: 'p', container: 'main' };
  const started = performance.now();
  expect(await lastLogLines(client, reference, 10, signal, 0.3)).toEqual([]);
  // And not for the 20 s that other requests are repeated for.
  expect(performance.now() - started).toBeLessThan(15_000);
});

describe('pauses', () => {
  it('double up to a bound, are spread, and are never shorter than asked for', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 7].map((failures) => pauseAfter(failures, undefined, () => 1));
    expect(pauses).toEqual([0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]);
    expect(pauseAfter(1, undefined, () => 0)).toBe(0.1);
    expect(pauseAfter(1, apiErrorOf(429, '', 'list', '7'), () => 0)).toBe(7);
  });
});

describe('refusals', () => {
  it.each([
    [401, 'Unauthorized', 'E_CLUSTER_FORBIDDEN', /does not accept the credentials/],
    [403, 'pods "x" is forbidden: exceeded quota: q', 'E_CLUSTER_QUOTA', /quota/],
    [
      403,
      'pods "x" is forbidden: violates PodSecurity "restricted:latest"',
      'E_CLUSTER_REFUSED',
      /Pod Security/,
    ],
    [422, 'Service "X" is invalid', 'E_CLUSTER_REFUSED', /status 422/],
  ])('%d %s is %s', (status, message, code, text) => {
    const error = explainApiError(apiErrorOf(status, JSON.stringify({ message }), 'create pods', undefined));
    expect(error).toMatchObject({ code, message: expect.stringMatching(text), evidence: [message] });
  });
});

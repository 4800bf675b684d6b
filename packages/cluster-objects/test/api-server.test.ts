/** The API server over HTTP, as clients other than CoreDNS see it. */
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ApiServer, ClusterError, controlsOver, defineCluster, startApiServer } from '../src/index.ts';

const cluster = defineCluster({ namespaces: 3, services: 20, pods: 50 });
let server: ApiServer;
beforeEach(async () => {
  server = await startApiServer({ cluster });
});
afterEach(() => server.close());

interface Listed {
  readonly kind: string;
  readonly apiVersion: string;
  readonly code?: number;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace: string };
  }[];
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Listed> {
  return JSON.parse(await (await fetch(server.url + path, { headers })).text());
}
const post = (path: string) => fetch(server.url + path, { method: 'POST' });
/** As another process has them. */
const controls = controlsOver(async (method, path) => (await fetch(server.url + path, { method })).text());
const namesOf = ({ items }: Listed) => items.map(({ metadata }) => metadata.name);

interface WatchEvent {
  readonly type: string;
  readonly object: {
    readonly kind: string;
    readonly code?: number;
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
      readonly annotations?: object;
    };
  };
}

/** The events of a watch, until it ends or is left. */
async function* watch(path: string): AsyncGenerator<WatchEvent, void, void> {
  const request = httpGet(server.url + path);
  // Leaving a watch is an error of all that read it.
  request.on('error', () => undefined);
  try {
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (response === undefined) throw new Error('no response');
    const lines = createInterface({ input: response });
    for (const stream of [response, lines]) stream.on('error', () => undefined);
    for await (const line of lines) yield JSON.parse(line);
  } finally {
    request.destroy();
  }
}

async function take(events: AsyncIterable<WatchEvent>, count: number): Promise<WatchEvent[]> {
  const taken: WatchEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

describe('a list', () => {
  it('has all objects, and its version is that of the cluster', async () => {
    const list = await get('/api/v1/services');
    expect(list).toMatchObject({ kind: 'ServiceList', apiVersion: 'v1' });
    expect(namesOf(list)).toHaveLength(20);
    expect(list.metadata.continue).toBeUndefined();
    expect(list.metadata.resourceVersion).toBe(String(server.status().resourceVersion));
  });

  it('comes in pages that make the same list', async () => {
    const names: string[] = [];
    let token = '';
    let pages = 0;
    do {
      const page = await get(`/api/v1/pods?limit=7&continue=${token}`);
      names.push(...namesOf(page));
      token = page.metadata.continue ?? '';
      pages++;
    } while (token !== '');
    expect(pages).toBe(8);
    expect(names).toEqual(namesOf(await get('/api/v1/pods')));
  });

  it('comes whole for version 0, as from the watch cache of a real server', async () => {
    expect(namesOf(await get('/api/v1/pods?limit=7&resourceVersion=0'))).toHaveLength(50);
  });

  it('can be of a namespace, or of what selectors match', async () => {
    const inNamespace = await get('/api/v1/namespaces/team-001/services');
    expect(inNamespace.items.map(({ metadata }) => metadata.namespace)).toEqual(Array(7).fill('team-001'));
    expect(namesOf(await get('/api/v1/services?fieldSelector=metadata.name%3Dweb-00003'))).toEqual([
      'web-00003',
    ]);
    expect(namesOf(await get('/api/v1/services?labelSelector=app%20in%20(web-00003,db-00009)'))).toHaveLength(
      2,
    );
    expect(namesOf(await get('/api/v1/services?labelSelector=!app'))).toEqual([]);
    const running = 'status.phase!=Succeeded,status.phase!=Failed,status.phase!=Unknown';
    expect(namesOf(await get(`/api/v1/pods?fieldSelector=${encodeURIComponent(running)}`))).toHaveLength(50);
    expect(namesOf(await get('/api/v1/pods?fieldSelector=status.phase%3DFailed'))).toEqual([]);
  });

  it('has the changes since the start', async () => {
    const { name } = server.churn.create();
    expect(namesOf(await get('/api/v1/services'))).toContain(name.split('.')[0]);
    server.churn.delete();
    expect(namesOf(await get('/api/v1/services'))).toHaveLength(20);
  });

  it('can be of metadata alone', async () => {
    const accept = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    const list = await get('/apis/discovery.k8s.io/v1/endpointslices', { accept });
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    expect(list.items[0]).not.toHaveProperty('endpoints');
  });

  it('is in protobuf for who prefers that', async () => {
    const accept = 'application/vnd.kubernetes.protobuf,application/json';
    const response = await fetch(`${server.url}/api/v1/pods`, { headers: { accept } });
    expect(response.headers.get('content-type')).toBe('application/vnd.kubernetes.protobuf');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.subarray(0, 4).toString('latin1')).toBe('k8s\0');
    for (const { metadata } of (await get('/api/v1/pods')).items)
      expect(bytes.includes(metadata.name)).toBe(true);
  });
});

describe('a watch', () => {
  it('sends what changes after the version of a list', async () => {
    const { metadata } = await get('/api/v1/services');
    const events = watch(`/api/v1/services?watch=1&resourceVersion=${metadata.resourceVersion}`);
    const first = server.churn.create();
    const deleted = server.churn.delete();
    const [added, gone] = await take(events, 2);
    expect(added).toMatchObject({ type: 'ADDED', object: { kind: 'Service' } });
    expect(added?.object.metadata).toMatchObject({
      name: first.name.split('.')[0],
      resourceVersion: String(first.resourceVersion),
    });
    expect(gone).toMatchObject({ type: 'DELETED' });
    expect(gone?.object.metadata.resourceVersion).toBe(String(deleted?.resourceVersion));
  });

  it('streams a list, and says where it ends', async () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const before = server.served.reads.pods ?? 0;
    const events = await take(watch(`/api/v1/pods?${query}`), 51);
    expect(events.slice(0, 50).map(({ type }) => type)).toEqual(Array(50).fill('ADDED'));
    expect(events.at(-1)).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Pod', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    });
    await expect.poll(() => server.served.reads.pods).toBe(before + 1);
  });

  it('ends when its time is up', async () => {
    const { metadata } = await get('/api/v1/pods');
    const query = `watch=1&timeoutSeconds=1&resourceVersion=${metadata.resourceVersion}`;
    expect(await take(watch(`/api/v1/pods?${query}`), 1)).toEqual([]);
  });

  it.each([
    ['one that was forgotten', (now: number) => now],
    ['one that never was', (now: number) => now + 1000],
    ['an ancient one', () => 1],
  ])('from a version that is unknown, %s, is told 410', async (_what, version) => {
    const { metadata } = await get('/api/v1/services');
    const asked = version(Number(metadata.resourceVersion));
    server.expire();
    const [event] = await take(watch(`/api/v1/services?watch=1&resourceVersion=${asked}`), 1);
    expect(event).toMatchObject({ type: 'ERROR', object: { kind: 'Status', reason: 'Expired', code: 410 } });
    expect(await get(`/api/v1/services?limit=5&resourceVersion=${asked}`)).toMatchObject({ code: 410 });
  });
});

describe('other requests', () => {
  it('one object, or 404', async () => {
    expect(await get('/api/v1/namespaces/team-000/services/web-00000')).toMatchObject({ kind: 'Service' });
    expect(await get('/api/v1/namespaces/team-002')).toMatchObject({ kind: 'Namespace' });
    expect(await get('/api/v1/nodes/node-00000')).toMatchObject({ kind: 'Node' });
    expect(await get('/api/v1/namespaces/team-001/services/web-00000')).toMatchObject({ code: 404 });
    expect(await get('/api/v1/secrets')).toMatchObject({ kind: 'Status', code: 404 });
  });

  it('discovery lists the five resources', async () => {
    const [core, slices] = await Promise.all(
      ['/api/v1', '/apis/discovery.k8s.io/v1'].map(async (path) => JSON.stringify(await get(path))),
    );
    for (const name of ['namespaces', 'services', 'pods', 'nodes'])
      expect(core).toContain(`"name":"${name}"`);
    expect(slices).toContain('"name":"endpointslices"');
    expect(await get('/version')).toMatchObject({ major: '1' });
  });

  it.each([
    ['GET', '/api/v1/services?labelSelector=a%20b%20c', 400],
    ['GET', '/api/v1/pods?fieldSelector=spec.color%3Dred', 400],
    ['GET', '/api/v1/pods?continue=nonsense', 400],
    ['GET', '/api/v1/pods?resourceVersion=x', 400],
    ['POST', '/api/v1/namespaces/team-000/services', 405],
    ['POST', '/control/churn?rate=many', 400],
    ['POST', '/control/announce?after=-1', 400],
    ['POST', '/control/announce', 400],
    ['POST', '/control/replace?share=2', 400],
    ['POST', '/control/outage?seconds=-1', 400],
    ['GET', '/control/expire', 405],
    ['GET', '/control/nothing', 404],
    ['POST', '/control/constructor', 404],
  ])('%s %s is refused with %i', async (method, path, code) => {
    const response = await fetch(server.url + path, { method });
    expect(response.status).toBe(code);
    expect(await response.json()).toMatchObject({ kind: 'Status', status: 'Failure', code });
  });
});

describe('the controls', () => {
  it('make changes at a rate and say when each was made', async () => {
    const begin = performance.now();
    await controls.churn(100);
    await setTimeout(1000);
    await controls.churn(0);
    const seconds = (performance.now() - begin) / 1000;
    const changes = await controls.changesAfter(0);
    // A busy machine may make fewer, and never more.
    expect(changes.length).toBeGreaterThan(5);
    expect(changes.length).toBeLessThan(100 * seconds + 40);
    for (const { atSeconds } of changes) expect(Math.abs(atSeconds - Date.now() / 1000)).toBeLessThan(30);
    const versions = changes.map(({ resourceVersion }) => resourceVersion);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  });

  it('announce a Service with its name and address, and create exactly that one', async () => {
    const before = process.hrtime.bigint();
    const service = await controls.announce(2);
    const announced = () => server.churn.changesAfter(0).filter(({ name }) => name === service.name);
    expect(announced()).toEqual([]);
    await expect.poll(announced).toHaveLength(1);
    const [change] = announced();
    expect(change).toMatchObject({ type: 'ADDED', address: service.address });
    const seconds = (change?.monotonicSeconds ?? 0) - Number(before) / 1e9;
    expect(seconds).toBeGreaterThan(1.99);
    expect(seconds).toBeLessThan(30);
    // It is not one of the churn's, which deletes the oldest of its own.
    expect(server.churn.delete()?.name).not.toBe(service.name);
  });

  it('replace all endpoints of services: watched, listed, and the pods with them', async () => {
    const slices = '/apis/discovery.k8s.io/v1/endpointslices';
    const before = await get(slices);
    const pods = namesOf(await get('/api/v1/pods'));
    const watched = take(watch(`${slices}?watch=1&resourceVersion=${before.metadata.resourceVersion}`), 20);
    await expect.poll(() => server.status().openWatches).toBe(1);
    const names = await controls.replace(1);
    expect((await watched).map(({ type }) => type)).toEqual(Array(20).fill('MODIFIED'));
    const now = await (await fetch(server.url + slices)).text();
    expect(namesOf(JSON.parse(now)).toSorted()).toEqual(namesOf(before).toSorted());
    // Members of the two headless services.
    expect(names).toHaveLength(6);
    for (const { name, address } of names) {
      expect(name).toMatch(/^db-\d+-\d+\.db-\d+\.team-/);
      expect(now).toContain(`"${address}"`);
      expect(JSON.stringify(before)).not.toContain(`"${address}"`);
    }
    const later = namesOf(await get('/api/v1/pods'));
    expect(later).toHaveLength(50);
    expect(new Set(later).size).toBe(50);
    expect(later.filter((each) => pods.includes(each)).length).toBeLessThan(40);
    // Once more: other addresses again.
    const [again] = await controls.replace(1);
    expect(again).toMatchObject({ name: names[0]?.name });
    expect(again?.address).not.toBe(names[0]?.address);
    expect(namesOf(await get('/api/v1/pods'))).toHaveLength(50);
  });

  it('take the server away for a while: afterwards it knows no earlier version', async () => {
    const { metadata } = await get('/api/v1/services');
    await controls.announce(0.1);
    // Long enough to be seen.
    expect((await post('/control/outage?seconds=2')).status).toBe(200);
    const isAway = () =>
      get('/version').then(
        () => false,
        () => true,
      );
    await expect.poll(isAway).toBe(true);
    await expect.poll(isAway).toBe(false);
    const query = `watch=1&resourceVersion=${metadata.resourceVersion}`;
    const [event] = await take(watch(`/api/v1/services?${query}`), 1);
    expect(event).toMatchObject({ type: 'ERROR', object: { code: 410 } });
    // What was announced came meanwhile.
    expect(namesOf(await get('/api/v1/services'))).toHaveLength(21);
  });

  it('end all watches', async () => {
    const { metadata } = await get('/api/v1/pods');
    const ended = take(watch(`/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}`), 1);
    await expect.poll(() => server.status().openWatches).toBe(1);
    await post('/control/close-watches');
    expect(await ended).toEqual([]);
    expect(server.status().openWatches).toBe(0);
  });
});

it('a port that is taken is one clear error', async () => {
  const error = await startApiServer({ cluster, port: server.port }).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(ClusterError);
  expect(error).toMatchObject({ code: 'E_LISTEN', exitStatus: 3 });
});

it('without streamed lists, a watch that wants to begin with all objects is refused as by an older API server', async () => {
  const older = await startApiServer({ cluster, streamedLists: false });
  try {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const response = await fetch(`${older.url}/api/v1/services?${query}`);
    expect(response.status).toBe(200);
    const { type, object } = JSON.parse(await response.text());
    expect([type, object.code, object.reason]).toEqual(['ERROR', 500, 'InternalError']);
    expect(older.served.reads.services).toBeUndefined();
    await (await fetch(`${older.url}/api/v1/services`)).arrayBuffer();
    expect(older.served.reads.services).toBe(1);
  } finally {
    await older.close();
  }
});

it('objects have managedFields, in JSON and in protobuf, as those of a real cluster', async () => {
  const pods = `${server.url}/api/v1/pods`;
  const { items } = JSON.parse(await (await fetch(pods)).text());
  const [first] = items;
  expect(first.metadata.managedFields).toMatchObject([
    { manager: 'kube-controller-manager', operation: 'Update', fieldsType: 'FieldsV1' },
    { manager: 'kubelet', subresource: 'status' },
  ]);
  const headers = { accept: 'application/vnd.kubernetes.protobuf' };
  const bytes = Buffer.from(await (await fetch(pods, { headers })).arrayBuffer());
  const fields = JSON.stringify(first.metadata.managedFields[0].fieldsV1);
  expect(bytes.toString('latin1').split(fields)).toHaveLength(items.length + 1);
});

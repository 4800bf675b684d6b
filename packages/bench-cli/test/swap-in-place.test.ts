/** The pure parts of an in-place swap: what changes are, when a canary has lost too much, what flags mean. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Change,
  findingOf,
  forwardPatch,
  inversePatch,
  MARK,
  markPatch,
  type PlannedEdit,
  unmarkPatch,
} from '../src/cluster-changes/change.ts';
import type { ApiRequest, ClusterApi } from '../src/cluster-changes/cluster-api.ts';
import { explained } from '../src/cluster-changes/explain.ts';
import { openGuarded } from '../src/cluster-changes/guarded.ts';
import {
  createJournal,
  type Journal,
  JournalLost,
  removeJournal,
  writeJournal,
} from '../src/cluster-changes/journal.ts';
import { isEqual, type Json, type PatchOperation, pointerOf, valueAt } from '../src/cluster-changes/json.ts';
import { createLease, removeLease, renewLease } from '../src/cluster-changes/lease.ts';
import { rollingInPlace } from '../src/cluster-changes/pod-faults.ts';
import { revertAll, unsettled } from '../src/cluster-changes/restore.ts';
import { describeRight, placeOf } from '../src/cluster-changes/rights.ts';
import { rolloutOf } from '../src/cluster-changes/rollout.ts';
import { NotSettled, takeOver } from '../src/cluster-changes/take-over.ts';
import { kubernetesOf } from '../src/config/kubernetes-settings.ts';
import { versionPrinted } from '../src/experiments/swap/builds.ts';
import { openCanary } from '../src/experiments/swap/in-place/canary.ts';
import {
  type CanarySecond,
  countSeconds,
  losingSeconds,
  MAX_LOSING_SECONDS,
} from '../src/experiments/swap/in-place/canary-count.ts';
import {
  closeWatched,
  demandFigures,
  type Open,
  strategyOf,
} from '../src/experiments/swap/in-place/in-place.ts';
import { demandUntouched } from '../src/experiments/swap/in-place/place.ts';
import { preflight } from '../src/experiments/swap/in-place/preflight.ts';
import { loadOfEach, measurePhase, type PhaseRequest } from '../src/experiments/swap/measure-phase.ts';
import { sharedSecrets } from '../src/experiments/swap/open-phases.ts';
import type { SwapPlan, SwapRequest } from '../src/experiments/swap/placed.ts';
import { summaryOf, targetImage } from '../src/experiments/swap/plan.ts';
import { versionInMetrics } from '../src/experiments/swap/pod-versions.ts';
import { queryConditions, readOwnQueries, writeQueries } from '../src/experiments/swap/query-files.ts';
import { demandShares } from '../src/experiments/swap/rate-held.ts';
import { SWAP_SETTINGS, type SwapSettings } from '../src/experiments/swap/settings.ts';
import type { KubeClient } from '../src/kubernetes-api/client.ts';
import type { ClusterRun } from '../src/targets/kubernetes/cluster-run.ts';
import { type DnsWorkload, parseWorkload } from '../src/targets/kubernetes/dns-copy/find-workload.ts';
import { realClock } from '../src/world.ts';
import { answer, worldOfApi } from './support/api-server.ts';
import { jobCluster } from './support/job-cluster.ts';
import { testWorld } from './support/test-world.ts';

const IMAGE = '/spec/template/spec/containers/0/image';
const NAME = '/spec/template/spec/containers/0/name';

const edit: PlannedEdit = {
  what: 'image of container coredns',
  object: {
    path: '/apis/apps/v1/namespaces/kube-system/deployments/coredns',
    title: 'Deployment x',
    uid: 'u1',
  },
  edits: [{ pointer: IMAGE, before: 'a', after: 'b' }],
  pinned: [{ pointer: NAME, value: 'coredns' }],
};

const object = (image: string, { uid = 'u1', name = 'coredns', labels = {} } = {}) => ({
  metadata: { uid, labels },
  spec: { template: { spec: { containers: [{ name, image }] } } },
});

describe('a load', () => {
  it.each([
    [1, 1, { clients: 20, threads: 1, outstanding: 100 }],
    [1, 2, { clients: 20, threads: 1, outstanding: 100 }],
    [3, 1, { clients: 300, threads: 3, outstanding: 300 }],
    [3, 3, { clients: 100, threads: 1, outstanding: 100 }],
    [30, 30, { clients: 100, threads: 1, outstanding: 100 }],
    [4, 3, { clients: 200, threads: 2, outstanding: 200 }],
  ])('to %d pods from %d load generators grows with the pods, not with both', (pods, count, each) => {
    expect(loadOfEach(pods, count)).toEqual(each);
  });

  it('has whole queries for each of its generators, also for those of each node', () => {
    expect(() => demandShares(3, 3)).not.toThrow();
    expect(() => demandShares(2, 3)).toThrow('--rate 2: 3 load generators share it in whole queries');
  });

  it('of a single generator has whether that was the limit', async () => {
    const outcome = {
      result: { qps: 10 },
      observation: null,
      wasTheLimit: true,
      command: [],
      node: 'node-1',
    };
    const request = {
      ...{ kind: 'internal', seconds: 0.01, name: 'placement-1', rawDirectory: 'raw' },
      ...{ queryFiles: { internal: 'i', external: 'e' }, signal: new AbortController().signal },
      run: { client: { clock: realClock }, observation: 'none' },
      settings: { rate: 10, loaders: 1, loadPerNode: false },
      workload: { namespace: 'n', container: 'dns', cpuLimitCores: null, service: { address: '10.0.0.1' } },
      pods: [{ metadata: { name: 'dns-1' }, spec: { nodeName: 'node-1', containers: [{}] } }],
      loader: {
        kind: 'builtin',
        load: async ({ onStarted }: { onStarted: () => void }) => {
          onStarted();
          return outcome;
        },
      },
    } as unknown as PhaseRequest;
    expect((await measurePhase(request)).loaders).toEqual({
      overlap: null,
      each: [
        {
          ...{ startSeconds: null, endSeconds: null, cpuSeconds: null, cpuCores: null },
          ...{ wasTheLimit: true, node: 'node-1' },
        },
      ],
    });
  });
});

describe('a JSON pointer', () => {
  it('escapes slashes and tildes, and finds what it names', () => {
    const pointer = pointerOf('metadata', 'labels', 'a~b/c');
    expect(pointer).toBe('/metadata/labels/a~0b~1c');
    expect(valueAt({ metadata: { labels: { 'a~b/c': 'x' } } }, pointer)).toBe('x');
  });

  it('finds elements of lists, and null where there is nothing', () => {
    expect(valueAt(object('a'), IMAGE)).toBe('a');
    expect(valueAt(object('a'), '/spec/none/at/all')).toBeNull();
    expect(valueAt({}, '/constructor')).toBeNull();
  });

  it('leads to equal documents whatever the order of keys', () => {
    expect(isEqual({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true);
    expect(isEqual({ a: 1 }, { a: 1, b: 2 })).toBe(false);
    expect(isEqual([1, 2], [2, 1])).toBe(false);
  });
});

describe('a change', () => {
  it('tests the object, the place and the old value before it sets the new one; its inverse does the same', () => {
    expect(forwardPatch(edit)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u1' },
      { op: 'test', path: NAME, value: 'coredns' },
      { op: 'test', path: IMAGE, value: 'a' },
      { op: 'replace', path: IMAGE, value: 'b' },
    ]);
    expect(inversePatch(edit).slice(2)).toEqual([
      { op: 'test', path: IMAGE, value: 'b' },
      { op: 'replace', path: IMAGE, value: 'a' },
    ]);
  });

  it('of a value that was absent adds it, and its inverse removes it', () => {
    const added = { ...edit, edits: [{ pointer: '/spec/state', before: null, after: 'Unmanaged' }] };
    expect(forwardPatch(added).at(-1)).toEqual({ op: 'add', path: '/spec/state', value: 'Unmanaged' });
    expect(inversePatch(added).at(-1)).toEqual({ op: 'remove', path: '/spec/state' });
  });

  it('marks the object with a label, and makes labels where there are none', () => {
    const pointer = '/metadata/labels/dinodns-bench~1changed-by';
    expect(MARK).toBe('dinodns-bench/changed-by');
    expect(markPatch(edit, object('a'), 'r').slice(1)).toEqual([
      { op: 'test', path: pointer, value: null },
      { op: 'add', path: pointer, value: 'r' },
    ]);
    expect(markPatch(edit, { metadata: { uid: 'u1' } }, 'r').at(-1)).toEqual({
      op: 'add',
      path: '/metadata/labels',
      value: { [MARK]: 'r' },
    });
    expect(unmarkPatch('r')[0]).toEqual({ op: 'test', path: pointer, value: 'r' });
  });

  it.each([
    ['before', object('a'), { kind: 'before' }],
    ['after', object('b'), { kind: 'after' }],
    ['another value', object('c'), { kind: 'foreign', found: `${IMAGE} is "c"` }],
    [
      'another container',
      object('b', { name: 'x' }),
      { kind: 'foreign', found: `${NAME} is "x", not "coredns"` },
    ],
    [
      'another object',
      object('b', { uid: 'u2' }),
      { kind: 'foreign', found: 'it was deleted and created again' },
    ],
    ['no object', null, { kind: 'foreign', found: 'it is gone' }],
  ])('is found %s', (_name, found, finding) => {
    expect(findingOf(edit as Change, found)).toEqual(finding);
  });
});

/**
 * An API server that holds these objects, numbers their versions, and takes a patch only if its tests hold.
 * @param admitted What admission makes of a patched object.
 */
function apiOf(
  objects: Map<string, unknown>,
  admitted: (object: unknown) => unknown = (object) => object,
): ClusterApi {
  let version = 0;
  const keep = (path: string, body: unknown) => {
    version += 1;
    const copy = structuredClone(body) as { metadata: object };
    objects.set(path, { ...copy, metadata: { ...copy.metadata, resourceVersion: String(version) } });
    return { status: 200, body: objects.get(path) };
  };
  const versionOf = (value: unknown) => valueAt(value, '/metadata/resourceVersion');
  const patched = (path: string, operations: readonly PatchOperation[], isTried: boolean) => {
    const next: unknown = structuredClone(objects.get(path));
    for (const { op, path: pointer, value = null } of operations) {
      if (op === 'test' && !isEqual(valueAt(next, pointer), value)) return { status: 422, body: {} };
      if (op === 'test') continue;
      const at = pointer.lastIndexOf('/');
      const parent = valueAt(next, pointer.slice(0, at)) as Record<string, Json>;
      const key = pointer.slice(at + 1).replaceAll('~1', '/');
      if (op === 'remove') delete parent[key];
      else parent[key] = value;
    }
    return isTried ? { status: 200, body: admitted(next) } : keep(path, admitted(next));
  };
  return {
    async send({ method, path, body, query }) {
      const found = objects.get(path);
      if (method === 'POST') {
        const at = `${path}/${String(valueAt(body, '/metadata/name'))}`;
        return objects.has(at) ? { status: 409, body: {} } : keep(at, body);
      }
      if (found === undefined) return { status: 404, body: {} };
      if (method === 'PATCH') return patched(path, body as PatchOperation[], query !== undefined);
      if (method === 'PUT')
        return versionOf(body) === versionOf(found) ? keep(path, body) : { status: 409, body: {} };
      if (method !== 'DELETE') return { status: 200, body: structuredClone(found) };
      const wanted = valueAt(body, '/preconditions/resourceVersion');
      if (wanted !== null && wanted !== versionOf(found)) return { status: 409, body: {} };
      objects.delete(path);
      return { status: 200, body: {} };
    },
  };
}

/** A webhook that replaces tags by digests. */
const intoDigest = (found: unknown) =>
  JSON.parse(JSON.stringify(found).replace('"image":"b"', '"image":"b@sha256:1"'));

describe('putting back', () => {
  const DNS = edit.object.path;
  const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/dinodns-bench-changes';
  const JOURNAL = '/api/v1/namespaces/kube-system/configmaps/dinodns-bench-journal';
  const MARKED = { labels: { [MARK]: 'r' } };
  const change = (state: Change['state'], more: Partial<Change> = {}): Change => ({
    ...{ ...edit, state, inverse: [], found: null },
    ...more,
  });
  const begin = async (changes: readonly Change[], dns: unknown, others: [string, unknown][] = []) => {
    const objects = new Map<string, unknown>([[DNS, dns], ...others]);
    const api = apiOf(objects);
    const ours = { runId: 'r', experiment: 'swap', namespace: 'run', token: 'r', labels: {} };
    const empty = await createJournal(api, 'kube-system', ours);
    const stored = await writeJournal(api, empty, { ...empty.journal, changes });
    return { objects, api, stored };
  };
  const statesOf = ({ changes }: Journal) => changes.map(({ state }) => state);

  it.each([
    ['c', `${IMAGE} is "c"`],
    ['b', 'somebody else has made the same change'],
  ])('leaves image %s alone that somebody sets in placement 4 of ABBA, and says so', async (image, found) => {
    const { api, stored, objects } = await begin([change('reverted')], object(image));
    const request = { api, clock: realClock, leaseNamespace: 'kube-system', holder: 'me', settleSeconds: 0 };
    const said: (string | null)[] = [];
    const onReverted = (each: Change) => void said.push(each.found);
    const outcome = await takeOver({ ...request, onReverted }, { keepFindings: false });
    expect(outcome).toMatchObject({ kind: 'done', journal: { changes: [{ state: 'superseded', found }] } });
    expect(said).toEqual([found]);
    expect([...objects.keys()]).toEqual([DNS]);
    // Also if it is set only while everything settles.
    expect(await unsettled(api, stored.journal)).toEqual([]);
  });

  it('of a change that is made again finds nothing of somebody else', async () => {
    const changes = [change('reverted'), change('applied')];
    const { api, stored } = await begin(changes, object('b', MARKED));
    const { journal } = await revertAll(api, stored);
    expect(statesOf(journal)).toEqual(['reverted', 'reverted']);
    expect(await unsettled(api, journal)).toEqual([]);
  });

  it('finds the container by its name when a sidecar was put before it', async () => {
    const sidecar = { name: 'mesh', image: 'm' };
    const { spec, ...rest } = object('b', MARKED);
    const containers = [sidecar, ...spec.template.spec.containers];
    const found = { ...rest, spec: { template: { spec: { containers } } } };
    const { api, stored, objects } = await begin([change('applied')], found);
    const { journal } = await revertAll(api, stored);
    expect(statesOf(journal)).toEqual(['reverted']);
    expect(valueAt(objects.get(DNS), '/spec/template/spec/containers')).toEqual([
      sidecar,
      { name: 'coredns', image: 'a' },
    ]);
  });

  const operator = '/apis/apps/v1/namespaces/x/deployments/operator';
  const paused = change('applied', {
    object: { path: operator, title: 'Deployment x/operator', uid: 'u3' },
    edits: [{ pointer: '/spec/replicas', before: 1, after: 0 }],
    pinned: [],
  });
  const operatorAt = (replicas: number, labels = {}) => ({
    ...{ metadata: { uid: 'u3', labels }, spec: { replicas } },
  });

  it('goes on when the journal is lost, with what still has the mark, and says at the end that it is', async () => {
    const others: [string, unknown][] = [[operator, operatorAt(0, MARKED.labels)]];
    const { api, stored, objects } = await begin([paused, change('applied')], object('b', MARKED), others);
    objects.delete(JOURNAL);
    await expect(revertAll(api, stored)).rejects.toThrow(JournalLost);
    expect([valueAt(objects.get(DNS), IMAGE), valueAt(objects.get(operator), '/spec/replicas')]).toEqual([
      'a',
      1,
    ]);
    const unmarked: [string, unknown][] = [[operator, operatorAt(0)]];
    const later = await begin([paused, change('applied')], object('b', MARKED), unmarked);
    // As the guard does, which has read it before.
    later.objects.delete(JOURNAL);
    await revertAll(later.api, later.stored, undefined, { isGone: true });
    expect(valueAt(later.objects.get(DNS), IMAGE)).toBe('a');
    expect(valueAt(later.objects.get(operator), '/spec/replicas')).toBe(0);
    expect(later.objects.has(JOURNAL)).toBe(false);
  });

  it('renews its Lease while the pods take their time', async () => {
    const rolling = { kind: 'Deployment', ...object('b', MARKED), status: { replicas: 0 } };
    const { api, objects } = await begin([change('applied')], rolling);
    let now = 0;
    const clock = {
      now: () => new Date(now),
      sleep: async (seconds: number) => {
        now += seconds * 1000;
      },
    };
    const asked = { api, clock, leaseNamespace: 'kube-system', holder: 'me', settleSeconds: 100 };
    const over = takeOver({ ...asked, onReverted: () => undefined }, { keepFindings: true });
    await expect(over).rejects.toThrow(NotSettled);
    expect(now - Date.parse(String(valueAt(objects.get(LEASE), '/spec/renewTime')))).toBeLessThan(20_000);
  });

  it('removes a journal or a Lease only as it was read', async () => {
    const { api, stored, objects } = await begin([], object('a'));
    await writeJournal(api, stored, { ...stored.journal, changes: [change('applied')] });
    await expect(removeJournal(api, stored)).rejects.toThrow(JournalLost);
    const asked = { holder: 'a', durationSeconds: 60, now: new Date(), labels: {} };
    const lease = await createLease(api, 'kube-system', asked);
    if (lease === null) throw new Error('no Lease');
    await renewLease(api, 'kube-system', lease, { ...asked, holder: 'b' });
    await removeLease(api, 'kube-system', lease);
    expect(objects.has(LEASE)).toBe(true);
  });
});

describe('a session of changes', () => {
  const DNS = edit.object.path;
  const JOURNAL = '/api/v1/namespaces/kube-system/configmaps/dinodns-bench-journal';
  const never = new AbortController().signal;
  const guard = {
    metadata: { name: 'guard' },
    spec: { nodeName: 'node-1', containers: [{ name: 'guard' }] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
  const openWith = async (
    objects: Map<string, unknown>,
    guards: readonly object[] = [],
    api = apiOf(objects),
  ) => {
    const world = await testWorld();
    onTestFinished(() => world.remove());
    const client = { clock: realClock, list: async () => ({ items: guards }) };
    const run = { world, client, runId: 'r', namespace: 'run', settings: { readyTime: 0 } };
    return openGuarded({
      ...{ run: run as unknown as ClusterRun, apiUntil: () => api, force: never, say: () => undefined },
      ...{ leaseNamespace: 'kube-system', leaseSeconds: 60, experiment: 'swap', settleSeconds: 1 },
    });
  };

  it('changes nothing while no guard is ready', async () => {
    const objects = new Map<string, unknown>([[DNS, object('a')]]);
    const { session, end } = await openWith(objects);
    await expect(session.apply(edit)).rejects.toThrow('the guard does not run: it has no ready pod');
    expect(objects.get(DNS)).toEqual(object('a'));
    await end();
    expect([...objects.keys()]).toEqual([DNS]);
  });

  it('puts back what it has changed, and ends once', async () => {
    const objects = new Map<string, unknown>([[DNS, object('a')]]);
    const { session, end } = await openWith(objects, [guard]);
    await session.apply(edit);
    expect(valueAt(objects.get(DNS), IMAGE)).toBe('b');
    const restored = vi.fn(async () => undefined);
    await end(restored);
    await end(restored);
    expect(valueAt(objects.get(DNS), IMAGE)).toBe('a');
    expect([restored.mock.calls, [...objects.keys()]]).toEqual([[[[]]], [DNS]]);
  });

  it('puts back what admission made of a change, which is refused then', async () => {
    const objects = new Map<string, unknown>([[DNS, object('a')]]);
    const { session, end } = await openWith(objects, [guard], apiOf(objects, intoDigest));
    await expect(session.apply(edit)).rejects.toThrow(
      'made another change than asked for: image of container coredns in Deployment x: "a" → "b@sha256:1"',
    );
    expect(valueAt(objects.get(DNS), IMAGE)).toBe('b@sha256:1');
    await end();
    expect([valueAt(objects.get(DNS), IMAGE), [...objects.keys()]]).toEqual(['a', [DNS]]);
  });

  it('rolls out there and back beside the annotations of others, and says where somebody else has done so', async () => {
    const dns = { metadata: { uid: 'u1', labels: {} }, spec: { template: { metadata: {} } } };
    const objects = new Map<string, unknown>([[DNS, dns]]);
    const api = apiOf(objects);
    const { session } = await openWith(objects, [guard], api);
    const roll = rollingInPlace(api, edit.object, { session });
    const annotations = () => valueAt(objects.get(DNS), '/spec/template/metadata/annotations');
    const begins = vi.fn();
    await roll(begins);
    expect(annotations()).toEqual({ 'dinodns-bench/rollout': 'true' });
    Object.assign(annotations() as object, { others: 'x' });
    await roll(begins);
    expect(annotations()).toEqual({ others: 'x' });
    await roll(begins);
    Reflect.deleteProperty(annotations() as object, 'dinodns-bench/rollout');
    await expect(roll(begins)).rejects.toThrow('somebody else has changed the pod template of Deployment x');
    expect(begins).toHaveBeenCalledTimes(3);
  });

  const journaled = async (changes: readonly Change[], renewedAt: Date) => {
    const objects = new Map<string, unknown>();
    const api = apiOf(objects);
    const other = { runId: 'o', experiment: 'swap', namespace: 'other', token: 'o', labels: {} };
    const empty = await createJournal(api, 'kube-system', other);
    await writeJournal(api, empty, { ...empty.journal, changes });
    const lease = { holder: 'other', durationSeconds: 60, now: renewedAt, labels: {} };
    await createLease(api, 'kube-system', lease);
    return objects;
  };
  const planned: Change = { ...edit, state: 'planned', inverse: [], found: null };

  it('begins in spite of a run that was killed before its first change, and only of such a one', async () => {
    const longAgo = new Date(0);
    const objects = await journaled([], longAgo);
    const { end } = await openWith(objects);
    expect(valueAt(JSON.parse(String(valueAt(objects.get(JOURNAL), '/data/journal.json'))), '/runId')).toBe(
      'r',
    );
    await end();
    expect([...objects.keys()]).toEqual([]);
    await expect(openWith(await journaled([planned], longAgo))).rejects.toThrow(
      'run o has changed the cluster',
    );
    const live = openWith(await journaled([], new Date()));
    await expect(live).rejects.toThrow('run o is about to change the cluster');
  });

  it('that begins together with another one says that, and not that something was put back', async () => {
    const objects = new Map<string, unknown>();
    const api = apiOf(objects);
    const other = { runId: 'o', experiment: 'swap', namespace: 'other', token: 'o', labels: {} };
    const raced: ClusterApi = {
      async send(request) {
        const isJournal = request.method === 'POST' && request.path.endsWith('/configmaps');
        if (isJournal) await createJournal(api, 'kube-system', other);
        return api.send(request);
      },
    };
    await expect(openWith(objects, [], raced)).rejects.toThrow('run o is about to change the cluster');
    expect([...objects.keys()]).toEqual([JOURNAL]);
  });
});

describe('a journal that somebody else left', () => {
  const JOURNAL = '/api/v1/namespaces/kube-system/configmaps/dinodns-bench-journal';
  const NAMESPACES = '/api/v1/namespaces';
  const elsewhere = {
    metadata: {
      name: 'run',
      labels: { 'dinodns-bench/run': 'r' },
      annotations: { 'dinodns-bench/journal': 'ops' },
    },
  };
  const worldOf = async (changes: readonly Change[] | null, image = 'c') => {
    const objects = new Map<string, unknown>([
      [edit.object.path, object(image)],
      [NAMESPACES, { metadata: {}, items: [elsewhere] }],
    ]);
    const api = apiOf(objects);
    const ours = { runId: 'r', experiment: 'swap', namespace: 'run', token: 'r', labels: {} };
    if (changes !== null) {
      const empty = await createJournal(api, 'kube-system', ours);
      await writeJournal(api, empty, { ...empty.journal, changes });
    }
    const world = await worldOfApi(async (request, response) => {
      const { pathname: path } = new URL(request.url ?? '', 'http://test');
      const said = await text(request);
      const { status, body } = await api.send({
        method: request.method as ApiRequest['method'],
        path,
        body: said === '' ? undefined : JSON.parse(said),
      });
      answer(response, status, body);
    });
    return { world, objects };
  };
  const superseded: Change = { ...edit, state: 'superseded', inverse: [], found: 'image is "c"' };

  it('is shown before restore deletes it, also what was left alone', async () => {
    const { world, objects } = await worldOf([superseded]);
    expect(await world.bench('swap', 'restore'), world.err()).toBe(0);
    expect(world.out()).toContain(
      'as before, except for what somebody else has changed since:\n  image of container',
    );
    expect(world.out()).toContain('(image is "c")');
    expect(objects.has(JOURNAL)).toBe(false);
  });

  it('is looked for in one namespace, which is named, with those of other runs', async () => {
    const { world } = await worldOf(null);
    for (const command of ['status', 'restore']) {
      const before = world.out().length;
      expect(await world.bench('swap', command), world.err()).toBe(0);
      const said = world.out().slice(before);
      expect(said).toContain('No journal in namespace kube-system');
      expect(said).toContain(
        'Run r has its journal in namespace ops: look there with --lease-namespace ops.',
      );
    }
  });

  it('that does not settle in time, or cannot be read, is no bug of bench', async () => {
    const failed = (cause: Error) => explained(() => Promise.reject(cause));
    await expect(failed(new NotSettled('1 of 2 pods'))).rejects.toMatchObject({ code: 'E_POD_TIMEOUT' });
    const { world } = await worldOf([superseded]);
    expect(await world.bench('swap', 'restore', '--ready-time', '4')).toBe(2);
    const { world: other, objects } = await worldOf(null);
    objects.set(JOURNAL, { metadata: {}, data: {} });
    expect(await other.bench('swap', 'status')).toBe(3);
    expect(other.err()).toContain(
      'E_CLUSTER_BUSY]: the journal in ConfigMap dinodns-bench-journal is damaged',
    );
  });
});

describe('the end of a swap', () => {
  it.each([
    ['after the last trial', { stopped: false, forced: true, lost: false }, 'the guard goes on'],
    ['by a second Ctrl-C alone', { stopped: true, forced: true, lost: false }, null],
    ['by one Ctrl-C', { stopped: true, forced: false, lost: false }, 'the guard goes on'],
    ['by a Lease that was lost before', { stopped: false, forced: false, lost: true }, null],
  ])('%s that leaves the DNS to the guard: %j', async (_name, { stopped, forced, lost }, said) => {
    const aborted = (is: boolean) => (is ? AbortSignal.abort(new Error('x')) : new AbortController().signal);
    const asked = { signal: aborted(stopped), force: aborted(forced), world: { clock: realClock } };
    const request = asked as unknown as SwapRequest;
    const guarded = {
      session: { signal: aborted(lost) },
      end: async () => {
        throw new Error('the guard goes on');
      },
    };
    const closing = closeWatched(request, { guarded, notes: [] } as unknown as Open);
    await (said === null ? expect(closing).resolves.toBeUndefined() : expect(closing).rejects.toThrow(said));
  });
});

it.each([
  [
    { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: '25%' } } },
    'RollingUpdate, maxSurge 25%, maxUnavailable 1',
  ],
  [{ updateStrategy: { type: 'OnDelete' } }, 'OnDelete'],
])('the update strategy of %j is in the conditions', (spec, said) => {
  expect(strategyOf({ spec })).toBe(said);
});

it('images are checked with those pull secrets that the DNS has itself', () => {
  const pod = { spec: { containers: [], imagePullSecrets: [{ name: 'own' }, { name: 'other' }] } };
  expect(sharedSecrets({ pullSecrets: ['mine', 'own'] }, [pod, {}])).toEqual(['own']);
});

it('a swap in place is refused in the middle of a rolling update, before anything is written', async () => {
  const pods = { desiredNumberScheduled: 2, currentNumberScheduled: 2, numberAvailable: 2 };
  const rolling = { kind: 'DaemonSet', ...object('b'), status: { ...pods, updatedNumberScheduled: 1 } };
  const asked: string[] = [];
  const api: ClusterApi = {
    async send({ method }) {
      asked.push(method);
      return { status: 200, body: rolling };
    },
  };
  const workload = { title: 'DaemonSet x', path: edit.object.path } as DnsWorkload;
  const { signal } = new AbortController();
  await expect(
    preflight({ client: {} as KubeClient, api, workload, edits: [edit], signal }),
  ).rejects.toMatchObject({
    code: 'E_CONFIG',
    message: 'DaemonSet x is not at rest: 1 of 2 pods are updated, 2 available, 2 exist',
  });
  expect(asked).toEqual(['GET']);
});

it('a swap in place is refused whose image admission would make another one of', async () => {
  const workload = {
    ...{ title: 'Deployment x', path: edit.object.path, namespace: 'kube-system', labels: {} },
    ...{ container: 'coredns', image: 'a' },
  } as unknown as DnsWorkload;
  const pod = { spec: { containers: [{ name: 'coredns', image: 'a' }] } };
  const client = { list: async () => ({ items: [pod] }) } as unknown as KubeClient;
  const { signal } = new AbortController();
  const tried = (admitted?: (object: unknown) => unknown) => {
    const api = apiOf(new Map([[edit.object.path, object('a')]]), admitted);
    return preflight({ client, api, workload, edits: [edit], signal });
  };
  await expect(tried()).resolves.toBeUndefined();
  await expect(tried(intoDigest)).rejects.toMatchObject({
    message: expect.stringContaining('would not keep a change of its image of container coredns: '),
    fix: expect.stringContaining('give what it makes of it'),
  });
});

it('a swap in place is refused whose CPU cannot be read, unless that is asked for', () => {
  const reason = 'CPU and memory are missing: neither may be read';
  expect(() => demandFigures('none', 'auto', [reason])).toThrow(reason);
  expect(() => demandFigures('none', 'none', [])).not.toThrow();
  expect(() => demandFigures('metrics', 'auto', [reason])).not.toThrow();
});

describe('the workload while it is measured', () => {
  const workload = { title: 'Deployment x', container: 'coredns', replicas: null } as DnsWorkload;
  const at = (image: string, generation: number, containers: readonly object[] = []) => ({
    metadata: { generation },
    spec: { template: { spec: { containers: [...containers, { name: 'coredns', image }] } } },
  });

  it('is known by its own container, and watched as a whole', () => {
    const applied = { change: 0, generation: null };
    const look = (found: unknown) => () => demandUntouched(workload, 'b', found, applied);
    expect(look(at('b', 2))).not.toThrow();
    expect(look(at('c', 3))).toThrow('somebody else set the image of coredns to c, instead of b');
    expect(look(at('b', 3, [{ name: 'mesh', image: 'm' }]))).toThrow(
      'Deployment x: somebody else changed its specification',
    );
  });
});

describe('a path of the API', () => {
  it.each([
    [
      '/api/v1/namespaces/kube-system/configmaps/x',
      { group: '', resource: 'configmaps', namespace: 'kube-system', name: 'x' },
    ],
    [
      '/apis/apps/v1/namespaces/a/deployments/b',
      { group: 'apps', resource: 'deployments', namespace: 'a', name: 'b' },
    ],
    [
      '/apis/coordination.k8s.io/v1/namespaces/a/leases',
      { group: 'coordination.k8s.io', resource: 'leases', namespace: 'a', name: '' },
    ],
    ['/api/v1/namespaces/run', { group: '', resource: 'namespaces', namespace: null, name: 'run' }],
    [
      '/apis/operator.openshift.io/v1/dnses/default',
      { group: 'operator.openshift.io', resource: 'dnses', namespace: null, name: 'default' },
    ],
  ])('%s says what a right on it is about', (path, place) => {
    expect(placeOf(path)).toEqual(place);
  });

  it('becomes a right in words', () => {
    const place = placeOf('/apis/apps/v1/namespaces/a/deployments/b');
    expect(describeRight({ ...place, verb: 'patch' })).toBe('patch deployments.apps b in namespace a');
  });
});

describe('a rollout', () => {
  const deployment = (status: object) => ({
    kind: 'Deployment',
    metadata: { generation: 2 },
    spec: { replicas: 2 },
    status,
  });
  const done = { observedGeneration: 2, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

  it('is over when all wanted pods are updated and available, and no other is left', () => {
    expect(rolloutOf(deployment(done))).toBeNull();
    expect(rolloutOf(deployment({ ...done, replicas: 3 }))).toContain('3 exist');
    expect(rolloutOf(deployment({ ...done, availableReplicas: 1 }))).toContain('1 available');
    expect(rolloutOf(deployment({ ...done, observedGeneration: 1 }))).toContain('not seen');
  });

  it('of a DaemonSet counts its nodes; other objects have none', () => {
    const status = {
      observedGeneration: 1,
      desiredNumberScheduled: 3,
      currentNumberScheduled: 3,
      numberAvailable: 3,
    };
    const metadata = { generation: 1 };
    expect(
      rolloutOf({ kind: 'DaemonSet', metadata, status: { ...status, updatedNumberScheduled: 3 } }),
    ).toBeNull();
    expect(rolloutOf({ kind: 'DaemonSet', metadata, status })).toContain('0 of 3 pods are updated');
    expect(rolloutOf({ kind: 'DNS', metadata, status: {} })).toBeNull();
  });
});

describe('the canary', () => {
  const good: CanarySecond = { sent: 20, lost: 0 };
  const bad: CanarySecond = { sent: 20, lost: 5 };
  const times = (second: CanarySecond, count: number) => new Array<CanarySecond>(count).fill(second);

  it('counts what was lost, and the longest time without a second that lost nothing', () => {
    const seconds = [good, bad, bad, good, bad];
    expect(countSeconds(seconds)).toEqual({ seconds: 5, sent: 100, lost: 15, longestLossSeconds: 2 });
  });

  it('does not mind the seconds without DNS that a rolling update of one pod takes', () => {
    const outage = [...times(good, 10), ...times({ sent: 20, lost: 20 }, 6), ...times(good, 1)];
    expect(losingSeconds(outage)).toBeLessThan(MAX_LOSING_SECONDS);
    expect(losingSeconds([...outage, ...times(good, 3)])).toBe(0);
  });

  it('has seen enough after ten seconds with losses in a row', () => {
    expect(losingSeconds([...times(good, 30), ...times(bad, 9)])).toBeLessThan(MAX_LOSING_SECONDS);
    expect(losingSeconds([...times(good, 30), ...times(bad, 10)])).toBe(MAX_LOSING_SECONDS);
  });
});

it('a canary that Kubernetes ends has not seen that clients lose queries', async () => {
  const { world, client, objects, print, end } = await jobCluster();
  const made = { world, client, settings: kubernetesOf({}), images: { checker: 'load' }, namespace: 'n' };
  const run = { ...made, runId: 'run', pullSecrets: [], jobs: 0 } as unknown as ClusterRun;
  const { signal } = new AbortController();
  const opening = openCanary(run, { address: '10.0.0.1', runSeconds: 60, signal, until: signal });
  const isMade = () => [...objects.keys()].some((path) => path.includes('/jobs/canary'));
  await vi.waitUntil(isMade, { timeout: 30_000 });
  print('{"event":"second","second":1,"sent":20,"lost":0}\n');
  const canary = await opening;
  end({ exitCode: 137, reason: 'Error' }, 'Evicted');
  await vi.waitUntil(() => canary.signal.aborted, { timeout: 30_000 });
  expect(canary.signal.reason).toMatchObject({ code: 'E_LOADER_FAILED' });
  await canary.stop();
});

describe('what a user gives', () => {
  it.each([
    ['1.13.1', 'registry.k8s.io/coredns/coredns:v1.11.3', 'registry.k8s.io/coredns/coredns:v1.13.1'],
    ['v1.13.1', 'coredns/coredns:1.11.3', 'coredns/coredns:1.13.1'],
    ['1.13.1', 'registry:5000/coredns:1.11.3@sha256:abc', 'registry:5000/coredns:1.13.1'],
    ['quay.io/other:x', 'coredns/coredns:1.11.3', 'quay.io/other:x'],
  ])('--to %s, where %s runs, is %s', (to, current, image) => {
    expect(targetImage(to, current)).toBe(image);
  });

  it.each(['AB', 'ABBA', 'abbaabba', 'BA'])('--placements %s can be paired', (text) => {
    expect(SWAP_SETTINGS.placements.schema.parse(text)).toBe(text.toUpperCase());
  });

  it.each(['', 'A', 'AA', 'AABB', 'ABC', 'ABA', 'ABAAB B'])(
    '--placements "%s" cannot, which is said',
    (text) => {
      const [issue] = SWAP_SETTINGS.placements.schema.safeParse(text).error?.issues ?? [];
      expect(issue?.message).toContain('cannot be paired');
    },
  );

  it('--workload names a namespace, a kind and a name', () => {
    expect(parseWorkload('a/daemonset/b')).toEqual({ namespace: 'a', kind: 'DaemonSet', name: 'b' });
    for (const text of ['coredns', 'a/pod/b', 'a/deployment/', 'a/deployment/b/c'])
      expect(SWAP_SETTINGS.workload.schema.safeParse(text).success).toBe(false);
  });
});

const NO_KUBECONFIG = 'E_CLUSTER_UNREACHABLE]: no usable cluster';

describe('bench swap', () => {
  it.each(['in-place', 'shadow'])('reads query files before anything else, by %s', async (method) => {
    const world = await testWorld({ env: { KUBECONFIG: '', HOME: '/nonexistent' } });
    try {
      await writeFile(join(world.directory, 'names.txt'), 'a.example A\nb.example AAAA\na.example A\n');
      await writeFile(join(world.directory, 'broken.txt'), 'a.example A\nb.example NOTYPE\n');
      const swap = (...flags: string[]) =>
        world.bench('swap', '--to', '1.13.1', '--method', method, ...flags);
      expect(await swap('--queries-internal', 'missing.txt')).toBe(3);
      expect(world.err()).toContain('--queries-internal: "missing.txt" does not exist\n  fix:');
      expect(await swap('--queries-external', 'broken.txt')).toBe(2);
      expect(world.err()).toContain('E_QUERY_FILE');
      expect(world.err()).not.toContain(NO_KUBECONFIG);
      expect(await swap('--queries-internal', 'names.txt')).toBe(3);
    } finally {
      await world.remove();
    }
  });

  it('asks what the files say, and for names of the cluster where there is none', async () => {
    const world = await testWorld();
    try {
      await writeFile(join(world.directory, 'names.txt'), 'a.example A\nb.example AAAA\na.example A\n');
      const own = await readOwnQueries(world, { queriesExternal: 'names.txt' });
      expect(queryConditions(own)).toEqual({ 'queries of external': 'names.txt, 2 different ones' });
      const service = { metadata: { name: 'web', namespace: 'shop' }, spec: { clusterIP: '10.0.0.7' } };
      const client = { list: async () => ({ items: [service] }) } as unknown as KubeClient;
      const files = await writeQueries(world, client, world.directory, own, new AbortController().signal);
      expect(await readFile(files.external, 'utf8')).toBe('a.example A\nb.example AAAA\na.example A\n');
      expect(await readFile(files.internal, 'utf8')).toBe('web.shop.svc.cluster.local A\n');
    } finally {
      await world.remove();
    }
  });

  it('names the image of each load generator in its help', async () => {
    const world = await testWorld();
    try {
      expect(await world.bench('swap', '--help-all')).toBe(0);
      const help = world.out().replaceAll(/\s+/g, ' ');
      expect(help).toMatch(/--loader-image <image> [^:]*canary: built from k8s\/images\/load /);
      expect(help).toContain('--dnsperf-image <image> image with dnsperf: built from k8s/images/dnsperf');
    } finally {
      await world.remove();
    }
  });

  it.each([
    [['--to', '1.13.1', '--placements', 'AAB'], 2, '--placements: "AAB" cannot be paired'],
    [[], 2, '--to is missing'],
    [
      ['--to', '1.13.1', '--dnsperf-image', 'x:1'],
      2,
      '--dnsperf-image: has no effect without --loader dnsperf',
    ],
    [['--to', '1.13.1', '--workload', 'coredns'], 2, '--workload: "coredns" is not NAMESPACE/KIND/NAME'],
    [['--to', '1.13.1', '--lease', '1'], 2, '--lease: "1" must be a duration of at least 5 seconds'],
    [['--to', '1.13.1', '--rate', 'fast'], 2, '--rate: "fast" must be a whole number of queries per second'],
    [['--to', '1.13.1', '--rate', '2.5'], 2, '--rate: "2.5" must be a whole number of queries per second'],
    [['--to', '1.13.1', '--rate', '2', '--loaders', '3'], 2, '--rate 2: 3 load generators share it'],
    [['--to', '1.13.1', '--idle', '0', '--until', 'verdict'], 2, '--until: has no effect without net CPU'],
    [['--to', '1.13.1'], 3, NO_KUBECONFIG],
    [['--to', '1.13.1', '--dry-run'], 3, NO_KUBECONFIG],
    [['status'], 3, NO_KUBECONFIG],
    [['restore'], 3, NO_KUBECONFIG],
  ])('%j ends with %i, by either method: %s', async (flags, status, text) => {
    const world = await testWorld({ env: { KUBECONFIG: '', HOME: '/nonexistent' } });
    try {
      for (const method of ['in-place', 'shadow'])
        expect(await world.bench('swap', '--method', method, ...flags)).toBe(status);
      // One message each.
      for (const part of [text, 'error [', 'fix: ']) expect(world.err().split(part)).toHaveLength(3);
      expect(await world.fs.readdir(world.directory)).toEqual([]);
    } finally {
      await world.remove();
    }
  });
});

it.each([
  ['shadow', ['--lease', '60'], '--lease: has no effect without --method in-place'],
  ['shadow', ['--yes-change-cluster-dns'], '--yes-change-cluster-dns: has no effect without'],
  ['in-place', ['--read-role', 'x'], '--read-role: has no effect without --method shadow'],
])('bench swap --method %s refuses %j', async (method, flags, said) => {
  const world = await testWorld();
  onTestFinished(() => world.remove());
  expect(await world.bench('swap', '--to', '1.13.1', '--method', method, ...flags)).toBe(2);
  expect(world.err()).toContain(said);
});

it('a dry run in place names everything that is created beside the changes', () => {
  const workload = { ...{ title: 'Deployment x', namespace: 'x', sidecars: {} }, service: {} };
  const plan = { workload, images: {}, method: { edits: { all: [edit] } } } as unknown as SwapPlan;
  const settings = { leaseNamespace: 'ops', namespacePrefix: 'bench' } as SwapSettings;
  for (const what of ['namespace bench-', 'Lease dinodns-bench-changes and ConfigMap', `the label ${MARK}`])
    expect(summaryOf(plan, settings)).toContain(what);
});

describe('a version', () => {
  it('is what coredns_build_info says, or what -version prints', () => {
    const metrics = 'x 1\ncoredns_build_info{goversion="go1.25.2",revision="1db4568",version="1.13.1"} 1\n';
    expect(versionInMetrics(metrics)).toBe('1.13.1');
    expect(versionInMetrics('coredns_up 1')).toBeNull();
    expect(versionPrinted('0.1.0')).toBeNull();
  });

  it.each([
    ['linux/amd64, go1.21.11, a6338e9', { Go: '1.21.11', revision: 'a6338e9' }],
    [
      'linux/amd64, go1.23.9 (Red Hat 1.23.9-1.el9_6) X:strictfipsruntime, ',
      { Go: '1.23.9', 'vendor of Go': 'Red Hat 1.23.9-1.el9_6', 'FIPS mode': 'strictfipsruntime' },
    ],
    [
      'linux/amd64, go1.24.6 X:loopvar,boringcrypto, 1db4568-dirty',
      { Go: '1.24.6', 'FIPS mode': 'boringcrypto', revision: '1db4568-dirty' },
    ],
    ['linux/amd64, devel go1.26-abcdef Mon Nov 23, ', { Go: '1.26-abcdef' }],
  ])('and how it was built: %s', (line, build) => {
    expect(versionPrinted(`CoreDNS-1.11.3\n${line}\n`)).toEqual({
      version: '1.11.3',
      build: { platform: 'linux/amd64', ...build },
    });
    expect(versionPrinted('CoreDNS-1.11.3')).toEqual({ version: '1.11.3', build: {} });
  });
});

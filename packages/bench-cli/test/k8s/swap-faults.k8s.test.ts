/** `bench swap --method in-place` loses nothing, whatever happens: each fault ends with the DNS exactly as before. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, remove } from '../../src/cluster-changes/cluster-api.ts';
import { JOURNAL_NAME, readJournal } from '../../src/cluster-changes/journal.ts';
import { textAt } from '../../src/cluster-changes/json.ts';
import { readLease } from '../../src/cluster-changes/lease.ts';
import { createStore } from '../../src/results/store.ts';
import { realWorld } from '../../src/world.ts';
import { swapRecordKind } from '../fixtures/make-swap.ts';
import { adminApi } from './support/admin.ts';
import { suiteKubeconfig } from './support/bench.ts';
import { type Halted, type HaltOptions, restoreSeconds, startBench } from './support/bench-process.ts';
import { breakableWay } from './support/breakable-way.ts';
import { makeReconciler, removeReconciler } from './support/openshift.ts';
import {
  asBefore,
  IMAGE,
  killGuard,
  makeStandIn,
  note,
  removeStandIn,
  type StandIn,
  setByOthers,
  snapshotOf,
  swapFlags,
  until,
  withoutTraces,
} from './support/stand-in.ts';
import { swapSuite } from './support/swap-suite.ts';

/** The other version first: what needs no placement before the change reaches it sooner. */
const CHANGE_FIRST = ['--placements', 'BA'] as const;
/** Measures until the fault ends it, however long that takes to come on a busy machine. */
const UNTIL_FAULT = [...CHANGE_FIRST, '--duration', '500'] as const;
/** As long as an API server is away that is replaced. */
const AWAY_MS = 10_000;
const suite = swapSuite('faults', ['in-place', 'optional']);

interface Stage {
  readonly dns: StandIn;
  readonly prefix: string;
  start(flags: readonly string[], halt?: Partial<HaltOptions>): Promise<Halted>;
  /** A swap to the other image. */
  swap(halt?: Partial<HaltOptions>, ...more: string[]): Promise<Halted>;
}

/** Each needs some pods at a time; more would only slow each other down on two CPUs. */
const STAGES_AT_ONCE = 5;
const waiting: (() => void)[] = [];
let onStage = 0;

async function enter(): Promise<void> {
  if (onStage === STAGES_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else onStage += 1;
}

function leave(): void {
  const next = waiting.shift();
  if (next === undefined) onStage -= 1;
  else next();
}

/** A test with DNS of its own, in which nothing of it is left at its end. */
async function stage(name: string, act: (stage: Stage) => Promise<void>): Promise<void> {
  await enter();
  try {
    await perform(name, act);
  } finally {
    leave();
  }
}

async function perform(name: string, act: (stage: Stage) => Promise<void>): Promise<void> {
  const { images, kubeconfig } = suite;
  const prefix = `${suite.name}-${name}`;
  const dns = await makeStandIn(`dns-${prefix}`, images.ours);
  const children: Halted[] = [];
  const start: Stage['start'] = async (flags, halt) => {
    const running = await startBench(flags, { kubeconfig, prefix, ...halt });
    children.push(running);
    return running;
  };
  try {
    await act({
      dns,
      prefix,
      start,
      swap: (halt, ...more) => start([...swapFlags(dns, images.clusters), ...more], halt),
    });
    await withoutTraces(prefix, dns.namespace);
  } finally {
    for (const { child } of children) child.kill('SIGKILL');
    await removeStandIn(dns);
  }
}

const imageOf = async ({ path }: StandIn) => textAt(await read(await adminApi(), path), IMAGE);

/** Several swaps share the processors of one small machine, and each waits for the Lease of a killed one. */
const PATIENCE_MS = 600_000;

describe.concurrent('in-place swap', { timeout: PATIENCE_MS }, () => {
  it('stopped while measuring wakes up and stops, when the guard has long put everything back', () =>
    stage('asleep', async ({ dns, swap, prefix }) => {
      const running = await swap({ at: 'placement 1: measuring', signal: 'SIGSTOP' }, ...CHANGE_FIRST);
      await running.stops('placement 1: measuring');
      const started = performance.now();
      await asBefore(dns);
      await note('the tool stopped past its Lease', (performance.now() - started) / 1000);
      await withoutTraces(prefix, dns.namespace);
      running.wake();
      const wokenAt = performance.now();
      expect(await running.exited, running.said()).toBe(3);
      await note('the tool woken after that has ended', (performance.now() - wokenAt) / 1000);
      expect(running.said()).toContain('E_LEASE_LOST');
      expect(running.said()).not.toContain('reverting:');
      expect(await asBefore(dns)).toBeLessThan(5);
    }));

  it.each([
    // Nothing is changed yet; the guard removes what would keep other swaps out.
    ['checking', 'pulling ', CHANGE_FIRST],
    ['planned', 'planned:', CHANGE_FIRST],
    ['applied', 'applied:', CHANGE_FIRST],
    ['measuring', 'placement 1: measuring', CHANGE_FIRST],
    ['reverting', 'reverting:', []],
  ])('killed while %s is put back by the guard', (state, at, order) =>
    stage(state, async ({ dns, swap, start, prefix }) => {
      const running = await swap({ at }, ...order);
      expect(await running.exited, running.said()).toBeNull();
      const started = performance.now();
      if (state === 'measuring') {
        const cleanup = await start(['cleanup', '--dry-run']);
        expect(await cleanup.exited, cleanup.said()).toBe(0);
        expect(cleanup.told()).toMatch(new RegExp(`${prefix}.*kept: it has changed this cluster`));
      }
      await asBefore(dns);
      await note(`the tool killed while ${state}`, (performance.now() - started) / 1000);
      await withoutTraces(prefix, dns.namespace);
    }),
  );

  it('killed after its guard was killed is put back by the next guard', () =>
    stage('guard', async ({ dns, swap, prefix }) => {
      const running = await swap({ at: 'placement 1: measuring', signal: 'SIGSTOP' }, ...CHANGE_FIRST);
      await running.stops('placement 1: measuring');
      await killGuard(prefix);
      running.child.kill('SIGKILL');
      expect(await running.exited).toBeNull();
      const started = performance.now();
      await asBefore(dns);
      await note('the tool and the guard killed', (performance.now() - started) / 1000);
    }));

  it('killed after somebody has deleted its journal is put back by the guard, which has read it', () =>
    stage('unrecorded', async ({ dns, swap }) => {
      const running = await swap({ at: 'placement 1: measuring', signal: 'SIGSTOP' }, ...CHANGE_FIRST);
      await running.stops('placement 1: measuring');
      await remove(await adminApi(), `/api/v1/namespaces/${dns.namespace}/configmaps/${JOURNAL_NAME}`);
      running.child.kill('SIGKILL');
      expect(await running.exited).toBeNull();
      await asBefore(dns);
    }));

  it('stopped past its Lease, between the journal and the change, wakes up and changes nothing', () =>
    stage('dozing', async ({ dns, swap, prefix }) => {
      const running = await swap({ at: 'planned:', signal: 'SIGSTOP' }, ...CHANGE_FIRST);
      await running.stops('planned:');
      const api = await adminApi();
      await until(() => readJournal(api, dns.namespace), null);
      running.wake();
      expect(await running.exited, running.said()).toBe(3);
      expect(running.said()).toContain('E_LEASE_LOST');
      expect(running.said()).not.toContain('applied:');
      await asBefore(dns);
      await withoutTraces(prefix, dns.namespace);
    }));

  it('that loses the API server for ten seconds, and its answer to the change, goes on', () =>
    stage('unreachable', async ({ dns, swap }) => {
      const way = await breakableWay(suite.kubeconfig);
      try {
        // The first patch of the object marks it; the second one changes its image.
        const at = `sends 2: PATCH ${dns.path}`;
        const halt: Partial<HaltOptions> = { at, signal: 'SIGSTOP', kubeconfig: way.kubeconfig };
        const running = await swap(halt, '--lease', '30');
        await running.stops(at);
        way.set('mute');
        running.wake();
        await until(() => imageOf(dns), suite.images.clusters);
        way.set('closed');
        await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
        way.set('open');
        expect(await running.exited, running.said()).toBe(0);
        await asBefore(dns);
        await note('the API server away for 10 s during the change', restoreSeconds(running));
      } finally {
        await way.close();
      }
    }));

  it('is refused before the first change, and leaves no folder, if image, rate or workload will not do', () =>
    stage('refused', async ({ dns, start, prefix }) => {
      const out = join(suite.directory, prefix);
      const refused = async (status: number, to: string, ...more: string[]) => {
        const running = await start([...swapFlags(dns, to), ...more, '--out', out]);
        expect(await running.exited, running.said()).toBe(status);
        expect(running.said()).not.toContain('planned:');
        expect(await snapshotOf(dns.path)).toEqual(dns.before);
        expect(await readdir(out)).toEqual([]);
        return running.said();
      };
      const { clusters } = suite.images;
      expect(await refused(3, 'coredns/coredns:0.0.0')).toMatch(/E_POD_IMAGE\]: .*coredns\/coredns:0\.0\.0/);
      expect(await refused(3, 'bad-coredns:foreign')).toMatch(
        /E_POD_IMAGE\]: bad-coredns:foreign is built for another architecture/,
      );
      const rate = await refused(5, clusters, '--rate', '1000000');
      expect(rate).toMatch(/E_NO_RATE\]: the rate cannot be held: [\d,]+ of 1,000,000/);
      expect(rate).toMatch(/fix: Give a lower one: --rate \d+/);
      const nowhere = await refused(2, clusters, '--workload', `${dns.namespace}/daemonset/x`);
      expect(nowhere).toContain(`there is no ${dns.namespace}/daemonset/x`);
      expect(nowhere).toContain('candidate: kube-system/deployment/coredns');
      expect(nowhere).toContain(`candidate: ${dns.namespace}/deployment/dns`);
    }));

  it('to a version that crashes at start is put back at once', () =>
    stage('crash', async ({ dns, start }) => {
      const running = await start([...swapFlags(dns, 'bad-coredns:crashing'), ...CHANGE_FIRST]);
      await running.says('rolling out');
      const started = performance.now();
      const status = await running.exited;
      expect(status, running.said()).toBe(4);
      expect(running.said()).toContain('E_SERVER_START');
      expect(running.said()).toContain('plugin/kubernetes: made to fail');
      await asBefore(dns);
      await note(
        'a version that crashes at start, noticed and put back',
        (performance.now() - started) / 1000,
      );
    }));

  it('whose clients lose queries for ten seconds puts the image back', () =>
    stage('losing', async ({ dns, swap }) => {
      const running = await swap(undefined, ...UNTIL_FAULT);
      await running.says('placement 1: measuring');
      const started = performance.now();
      const service = `/api/v1/namespaces/${dns.namespace}/services/dns`;
      await setByOthers(service, '/spec/selector', { app: 'nobody' });
      expect(await running.exited, running.said()).toBe(4);
      await note('clients lose every query while measuring', (performance.now() - started) / 1000);
      expect(running.said()).toMatch(
        /E_QUERIES_LOST\]: clients of the cluster's DNS lose queries: \d+ of \d+ in the last 10 seconds/,
      );
      expect(await asBefore(dns)).toBeLessThan(5);
    }));

  it('leaves an image alone that somebody else has set meanwhile, and names it', () =>
    stage('edited', async ({ dns, swap }) => {
      const running = await swap(undefined, ...UNTIL_FAULT);
      await running.says('placement 1: measuring');
      const started = performance.now();
      await setByOthers(dns.path, IMAGE, 'bad-coredns:crashing');
      expect(await running.exited, running.said()).toBe(5);
      await note('somebody else sets the image while measuring', (performance.now() - started) / 1000);
      expect(running.said()).toContain('E_CLUSTER_CHANGED');
      expect(running.told()).toContain('Left alone, because someone else has changed it');
      expect(running.told()).toContain('bad-coredns:crashing');
      expect(await imageOf(dns)).toBe('bad-coredns:crashing');
      await setByOthers(dns.path, IMAGE, dns.image);
      await asBefore(dns);
    }));

  it('leaves an image alone that somebody else has set after the last change was put back', () =>
    stage('editedlater', async ({ dns, swap }) => {
      const running = await swap(undefined, ...CHANGE_FIRST, '--duration', '8');
      await running.says('placement 2: measuring');
      await setByOthers(dns.path, IMAGE, 'bad-coredns:crashing');
      expect(await running.exited, running.said()).toBe(5);
      expect(running.said()).not.toContain('E_LEASE_LOST');
      expect(running.told()).toContain('Left alone, because someone else has changed it');
      expect(await imageOf(dns)).toBe('bad-coredns:crashing');
      await setByOthers(dns.path, IMAGE, dns.image);
      await asBefore(dns);
    }));

  it('killed after somebody else has set the image: the guard leaves it alone, status names it', () =>
    stage('foundlater', async ({ dns, swap, start }) => {
      const running = await swap({ at: 'placement 1: measuring' }, ...CHANGE_FIRST);
      expect(await running.exited).toBeNull();
      await setByOthers(dns.path, IMAGE, 'bad-coredns:crashing');
      const at = ['--lease-namespace', dns.namespace];
      const api = await adminApi();
      const states = async () =>
        (await readJournal(api, dns.namespace))?.journal.changes.map(({ state }) => state);
      await until(states, ['superseded']);
      const status = await start(['swap', 'status', ...at]);
      expect(await status.exited, status.said()).toBe(0);
      expect(status.told()).toMatch(/superseded .*bad-coredns:crashing/);
      const restore = await start(['swap', 'restore', ...at]);
      expect(await restore.exited, restore.said()).toBe(0);
      expect(await imageOf(dns)).toBe('bad-coredns:crashing');
      await setByOthers(dns.path, IMAGE, dns.image);
      await asBefore(dns);
    }));

  it('beside something that puts the image back fails the trial with that reason, and puts back what is its own', () =>
    stage('addon', async ({ dns, swap, prefix }) => {
      const { ours, clusters } = suite.images;
      const addon = { namespace: `addon-${prefix}`, name: 'addon-manager' };
      const rules = [{ path: dns.path, pointer: IMAGE, value: ours }];
      try {
        await makeReconciler({ ...addon, replicas: 1, rules });
        const running = await swap(undefined, ...UNTIL_FAULT);
        expect(await running.exited, running.said()).toBe(5);
        const reason = `${dns.kind} ${dns.namespace}/dns: somebody else set the image of coredns to ${ours}, instead of ${clusters}`;
        expect(running.said()).toContain(`E_CLUSTER_CHANGED]: ${reason}`);
        expect(running.told().replaceAll(/\s+/g, ' ')).toContain(`trial 1 failed: ${reason}`);
        await asBefore(dns);
      } finally {
        await removeReconciler(addon);
      }
    }));

  it('ends when somebody else has set the replicas meanwhile, names that, and leaves them alone', () =>
    stage('scaled', async ({ dns, swap }) => {
      const running = await swap(undefined, ...UNTIL_FAULT);
      await running.says('placement 1: measuring');
      const started = performance.now();
      await setByOthers(dns.path, '/spec/replicas', 2);
      expect(await running.exited, running.said()).toBe(5);
      await note('somebody else sets the replicas while measuring', (performance.now() - started) / 1000);
      expect(running.said()).toMatch(/E_CLUSTER_CHANGED\]: .* set its replicas to 2, instead of 1/);
      expect(await imageOf(dns)).toBe(dns.image);
      expect((await snapshotOf(dns.path)) as object).toMatchObject({ spec: { replicas: 2 } });
      await setByOthers(dns.path, '/spec/replicas', 1);
      await asBefore(dns);
    }));

  it('refuses while another one runs, and `swap restore` from elsewhere stops that one', () =>
    stage('two', async ({ dns, swap, start, prefix }) => {
      const first = await swap(undefined, ...UNTIL_FAULT);
      await first.says('placement 1: measuring');
      const second = await swap();
      expect(await second.exited).toBe(3);
      expect(second.said()).toContain('E_CLUSTER_BUSY');
      expect(second.said()).not.toContain('planned:');
      // For a user who may not read the journals of swaps.
      const cleanup = await start(['cleanup', '--dry-run'], { kubeconfig: suiteKubeconfig() });
      expect(await cleanup.exited, cleanup.said()).toBe(0);
      expect(cleanup.told()).toMatch(new RegExp(`${prefix}.*kept: it is running`));
      const at = ['--lease-namespace', dns.namespace];
      const started = performance.now();
      const restore = await start(['swap', 'restore', ...at]);
      expect(await restore.exited, restore.said()).toBe(0);
      await note('`bench swap restore` from elsewhere', (performance.now() - started) / 1000);
      expect(await first.exited, first.said()).toBe(3);
      expect(first.said()).toContain('E_LEASE_LOST');
      await asBefore(dns);
    }));

  it('stopped by Ctrl-C puts everything back, and goes on with the placement that is missing', () =>
    stage('ctrlc', async ({ dns, start, swap, prefix }) => {
      const out = join(suite.directory, prefix);
      const taken = async () => {
        const { record } = await createStore(realWorld(), out).loadAs(swapRecordKind, 'latest');
        return record.trials.map((trial) => ({
          ...trial,
          side: trial.status === 'ok' && trial.evidence.side,
        }));
      };
      const at = 'placement 2: measuring';
      const running = await swap({ at, signal: 'SIGINT' }, '--out', out);
      await running.says(at);
      const started = performance.now();
      expect(await running.exited, running.said()).toBe(130);
      await asBefore(dns);
      await note('Ctrl-C while measuring', (performance.now() - started) / 1000);
      expect(running.said()).toContain('Ctrl-C: putting everything back');
      // That of the second placement, and the way back, which the canary has seen as well.
      expect(running.said()).toMatch(/ queries during 2 rolling updates/);
      expect(running.said()).toMatch(/as its previous revision: kubectl .* rollout undo deployment\/dns/);
      const [first, ...others] = await taken();
      expect([first?.side, others]).toEqual(['A', []]);
      const resumed = await start(['swap', '--resume', 'latest', '--out', out]);
      expect(await resumed.exited, resumed.said()).toBe(0);
      expect(resumed.said()).toContain('placement 2: measuring');
      expect(resumed.said()).not.toContain('placement 1: ');
      expect(await taken()).toEqual([first, expect.objectContaining({ order: 1, side: 'B' })]);
      await asBefore(dns);
    }));

  it('stopped by Ctrl-C twice ends at once, and the guard puts everything back', () =>
    stage('twice', async ({ dns, swap, prefix }) => {
      // The second one comes as soon as the first was heard, before anything can be put back.
      const at = 'Ctrl-C: putting everything back';
      const running = await swap({ at, signal: 'SIGINT' }, ...UNTIL_FAULT);
      await running.says('placement 1: measuring');
      const started = performance.now();
      running.child.kill('SIGINT');
      expect(await running.exited, running.said()).toBe(130);
      expect(running.said()).toContain(
        'Ctrl-C again: what is not put back yet is left to the guard in the cluster, which begins within 20 s',
      );
      expect(running.said()).not.toContain('reverted:');
      await asBefore(dns);
      await note('Ctrl-C twice while measuring', (performance.now() - started) / 1000);
      await withoutTraces(prefix, dns.namespace);
    }));

  it('stopped by Ctrl-C twice before the first change leaves nothing, and keeps no other swap out', () =>
    stage('twiceearly', async ({ dns, swap, prefix }) => {
      const out = join(suite.directory, prefix);
      const at = 'Ctrl-C: putting everything back';
      const running = await swap({ at, signal: 'SIGINT' }, '--out', out);
      await running.says('queries per second for names of the cluster');
      running.child.kill('SIGINT');
      expect(await running.exited, running.said()).toBe(130);
      expect(running.said()).not.toContain('planned:');
      // No guard waits for the Lease to expire: bench itself has removed the journal and the Lease.
      const api = await adminApi();
      expect(await readJournal(api, dns.namespace)).toBeNull();
      expect(await readLease(api, dns.namespace)).toBeNull();
      expect(await snapshotOf(dns.path)).toEqual(dns.before);
      expect(await readdir(out)).toEqual([]);
    }));
});

import { describe, expect, it } from 'vitest';
import { loadersNote } from '../src/report/compare/pods.ts';
import { unevenness } from '../src/report/marks.ts';
import type { OkTrial, RunRecord } from '../src/results/record.ts';
import { parseRecord } from './support/parse-record.ts';
import { referenceText } from './support/reference.ts';
import { renderMarkdown } from './support/render.ts';

const podsSection = (record: RunRecord) =>
  renderMarkdown(record)
    .split(/^(?=## )/m)
    .find((section) => section.startsWith('## Pods')) ?? '';

const reference = (name: string) => parseRecord(referenceText(name), name);

describe('the report of a run on a cluster', () => {
  it('has a row for the pods of each case, and says what the sampling can resolve', async () => {
    const text = podsSection(reference('kubernetes-testcluster'));
    expect(text.match(/^\| (?:CoreDNS|DinoDNS)/gm)).toHaveLength(6);
    expect(text).toContain('1 on bench-node');
    expect(text).toMatch(/difference of the kubelet's counters before and after the load/);
  });

  it('lists the sidecars of the pods apart, where there are some', async () => {
    const record = reference('kubernetes-testcluster');
    expect(podsSection(record)).not.toContain('Sidecars');
    const trials = record.trials.map((trial) =>
      trial.status === 'failed' || trial.instanceObservations === null
        ? trial
        : {
            ...trial,
            instanceObservations: trial.instanceObservations.map((one) => ({
              ...one,
              sidecars: [{ name: 'kube-rbac-proxy', cpuCores: 0.25, memoryBytes: 2 ** 20 }],
            })),
          },
    );
    const text = podsSection({ ...record, trials });
    expect(text).toContain('Sidecars: other containers');
    expect(text.match(/kube-rbac-proxy +\| +0\.25 \| +1\.0 \|/g)).toHaveLength(6);
  });

  /** The reference with its pods on the nodes that `nodeOf` gives them. */
  function placed(nodeOf: (server: string, round: number) => string): RunRecord {
    const record = reference('kubernetes-testcluster');
    const trials = record.trials.map((trial) => ({
      ...trial,
      instances: trial.instances.map((instance) => ({
        ...instance,
        node: nodeOf(trial.caseKey.split('/')[0] ?? '', trial.round),
      })),
    }));
    return { ...record, trials };
  }

  it('has the nodes of all trials, not only of the first', () => {
    const text = podsSection(placed((_, round) => (round === 1 ? 'node-b' : 'node-a')));
    expect(text).toContain('1 on node-a; 1 on node-b');
  });

  it('warns where servers that are compared ran on different nodes, and only there', () => {
    const different = 'Servers that are compared ran on different nodes';
    const alone = placed((server) => (server.startsWith('coredns') ? 'node-a' : 'node-b'));
    expect(renderMarkdown(alone)).toContain(
      `${different} (CoreDNS on node-a; DinoDNS (stock) and DinoDNS on node-b): a part of any difference may be that of the nodes. For servers that bench starts, choose one with --server-node NAME.`,
    );
    expect(renderMarkdown(placed((_, round) => `node-${round}`))).not.toContain(different);
    expect(renderMarkdown(placed(() => 'node-a'))).not.toContain(different);
  });

  it('says when loaders began together only of trials in which the starts of all are known', () => {
    const trialOf = (...starts: (number | null)[]) => ({
      overlap: null,
      each: starts.map((startSeconds) => ({
        ...{ startSeconds, endSeconds: null, cpuSeconds: null, cpuCores: null, wasTheLimit: null, node: 'n' },
      })),
    });
    const said = (...trials: ReturnType<typeof trialOf>[]) => JSON.stringify(loadersNote(trials));
    expect(said(trialOf(1, 1.002))).toContain('began within 2.0 ms of each other.');
    expect(said(trialOf(1, null))).toContain('began within an unknown time of each other.');
    expect(said(trialOf(null, null))).toContain('began within an unknown time of each other.');
    expect(said(trialOf(1, null), trialOf(1, 1.002))).toContain(
      'began within 2.0 ms of each other where that is known.',
    );
  });

  it('on one machine has none', async () => {
    expect(podsSection(reference('local-tier1-both'))).toBe('');
  });

  it('tells unevenness by the CPU time of pods where nobody counted their queries', async () => {
    const { trials } = reference('kubernetes-testcluster');
    const trial = trials.find((item): item is OkTrial => item.status === 'ok');
    const [pod] = trial?.instanceObservations ?? [];
    if (trial === undefined || pod === undefined) throw new Error('no pod in the reference');
    const withPods = (...cpuSeconds: number[]) => ({
      ...trial,
      instanceObservations: cpuSeconds.map((seconds) => ({ ...pod, cpuSeconds: seconds })),
    });
    expect(unevenness(withPods(3, 1))).toBe(1.5);
    expect(unevenness(withPods(2, 2, 2))).toBe(1);
    expect(unevenness(withPods(2))).toBeNull();
  });
});

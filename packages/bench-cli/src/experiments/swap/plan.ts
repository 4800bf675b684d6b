/** What a swap compares, found in the cluster before anything is changed. Reads only. */
import { describeChange, inversePatch, MARK } from '../../cluster-changes/change.ts';
import { openChangeable } from '../../cluster-changes/connected-api.ts';
import { copyRights, readRoleOf } from '../../cluster-changes/copy-rights.ts';
import { sessionRights } from '../../cluster-changes/guard.ts';
import { JOURNAL_NAME } from '../../cluster-changes/journal.ts';
import { LEASE_NAME } from '../../cluster-changes/lease.ts';
import { describeRight } from '../../cluster-changes/rights.ts';
import { demandNoJournal } from '../../cluster-changes/session.ts';
import type { ExperimentPlan, PlannedCase } from '../../engine/experiment.ts';
import { BenchError } from '../../errors.ts';
import type { InterruptionWords } from '../../interruption.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { imageParts } from '../../servers/image-record.ts';
import {
  choiceOf,
  type DnsWorkload,
  findWorkload,
  serverNameOf,
} from '../../targets/kubernetes/dns-copy/find-workload.ts';
import { type CopyPlan, demandApart, planCopy } from '../../targets/kubernetes/dns-copy/plan-copy.ts';
import { namespaceOf } from '../../targets/kubernetes/objects/labels.ts';
import { counted, formatDuration } from '../../text.ts';
import type { World } from '../../world.ts';
import { planEdits } from './in-place/edits.ts';
import { ROLE_FILE, watchingRights } from './in-place/preflight.ts';
import type { SwapPlan } from './placed.ts';
import { readOwnQueries } from './query-files.ts';
import { demandShares } from './rate-held.ts';
import { type SwapSettings, sequenceOf } from './settings.ts';

/**
 * `1.13.1` is that version of the image that runs (`registry.k8s.io/coredns/coredns:v1.11.3` → `…:v1.13.1`, with the `v` of
 * its tag); anything else is an image itself.
 */
export function targetImage(to: string, current: string): string {
  const version = /^v?(\d+\.\d+\.\d+\S*)$/.exec(to)?.[1];
  if (version === undefined) return to;
  const { repository, tag } = imageParts(current);
  return `${repository}:${tag.startsWith('v') ? 'v' : ''}${version}`;
}

/** Planning takes a few requests. */
const LIMIT_MS = 60_000;

/** Starting pods or a rolling update, and waiting for the kubelet's figures. */
const SPARE_SECONDS = 25;

/** Two images of one version have their own names. */
function namesOf(images: SwapPlan['images']): SwapPlan['names'] {
  const [A, B] = [serverNameOf(images.A), serverNameOf(images.B)];
  return A === B ? images : { A, B };
}

const titleOf = (name: string) => name.replace(/^coredns@/, 'CoreDNS ');

/** Lines below titles, with an empty line between them; nothing of a title without lines. */
function paragraphs(...all: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  return all
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    .join('\n');
}

/** Nodes may reach other registries than this machine, or have the image already: only they can be asked. */
const unchecked = ({ images }: SwapPlan): [title: string, lines: readonly string[]] => [
  'Not checked by a dry run',
  [`whether the nodes can get ${images.B}: a swap asks each node that runs DNS, before anything is changed`],
];

const RIGHTS = `Rights beyond those of k8s/rbac.yaml (${ROLE_FILE} grants them)`;

/** What was found, what would be created or changed and put back, and the rights that it takes. */
export function summaryOf(plan: SwapPlan, settings: SwapSettings): string {
  const { workload, images, method } = plan;
  const sidecars = Object.entries(workload.sidecars).map(
    ([name, value]) => `sidecar ${name}: ${value}, unchanged`,
  );
  const found = [
    `${workload.title}, container ${workload.container}: ${workload.image}`,
    `Service ${workload.namespace}/${workload.service.name}, ${workload.service.address}`,
  ];
  if ('edits' in method) {
    const { all } = method.edits;
    const { leaseNamespace, namespacePrefix } = settings;
    const namespace = namespaceOf(namespacePrefix, '<run>');
    const paths = all.map(({ object }) => object.path);
    const rights = [
      ...sessionRights(paths, leaseNamespace, namespace),
      ...watchingRights({ workload, edits: all }),
    ];
    return paragraphs(
      ['Found', [...found, ...sidecars]],
      [
        'Would be created, and removed at the end',
        [
          `namespace ${namespace} with a guard, a canary and load generators, and roles for the guard`,
          `Lease ${LEASE_NAME} and ConfigMap ${JOURNAL_NAME} in namespace ${leaseNamespace}`,
          `the label ${MARK} on each changed object`,
        ],
      ],
      ['Would be changed, in this order', all.map(describeChange)],
      [
        'Would be put back, in this order, with these patches',
        all.toReversed().map((edit) => `${edit.object.title}: ${JSON.stringify(inversePatch(edit))}`),
      ],
      unchecked(plan),
      [RIGHTS, rights.map(describeRight)],
    );
  }
  const { replicas, configMaps, notCarriedOver } = method.copy;
  const { readRole: role = readRoleOf(workload) } = settings;
  return paragraphs(
    ['Found', found],
    [
      'Would be created, in a namespace of the run, which is removed at the end',
      [
        ...[...configMaps.keys()].map((name) => `a copy of ConfigMap ${workload.namespace}/${name}`),
        `a Deployment of ${images.A} and one of ${images.B} in turns, ${counted(replicas, 'pod')} each`,
        `an account with the role ${role}, bound by a ClusterRoleBinding of the name of the namespace`,
      ],
    ],
    ['Not carried over to the copies', notCarriedOver],
    ['Would be changed', ['nothing']],
    unchecked(plan),
    [RIGHTS, copyRights(workload, role).map(describeRight)],
  );
}

function interruptionWords({ method, lease }: SwapSettings): InterruptionWords {
  return method === 'shadow'
    ? {
        first: 'removing what this run has made; once more not to wait for it',
        again: 'not waiting; Kubernetes goes on removing it',
      }
    : {
        first: 'putting everything back; once more to leave that to the guard in the cluster',
        again: `what is not put back yet is left to the guard in the cluster, which begins within ${formatDuration(lease)}: see \`bench swap status\``,
      };
}

/** As the sequence says: a change of the image is a rolling update, so the twin of A follows or precedes A. */
function orderOf(sequence: string, baseline: string) {
  return <T extends PlannedCase>(cases: readonly T[], round: number): readonly T[] => {
    const a = cases.filter(({ subject }) => subject === baseline);
    const b = cases.filter(({ subject }) => subject !== baseline);
    return sequence[(2 * round) % sequence.length] === 'A' ? [...a, ...b] : [...b, ...a.toReversed()];
  };
}

/** @throws BenchError `E_CONFIG` for a DNS that cannot be copied, or whose copy the nodes cannot take. */
async function copyFor(client: KubeClient, workload: DnsWorkload, signal: AbortSignal): Promise<CopyPlan> {
  const copy = await planCopy(client, workload, '--method in-place', signal);
  const fix = 'Let more nodes take pods, or use --method in-place.';
  await demandApart(client, copy, {}, { pods: copy.replicas, fix }, signal);
  return copy;
}

/** @throws BenchError for a DNS that is not there, or that cannot be compared. */
export async function planSwap(settings: SwapSettings, world: World): Promise<ExperimentPlan<SwapPlan>> {
  const {
    to,
    method: how,
    rate,
    loaders,
    duration,
    idle,
    settle,
    trials,
    until,
    maxTrials,
    aa,
    placements,
  } = settings;
  if (to === undefined) {
    throw new BenchError('E_USAGE', '--to is missing: the version or image to compare with', {
      fix: 'Name it: `bench swap --to 1.13.1`.',
    });
  }
  demandShares(rate, loaders);
  const ownQueries = await readOwnQueries(world, settings);
  const signal = AbortSignal.timeout(LIMIT_MS);
  const { client, api } = await openChangeable(world, settings.context, signal);
  const workload = await findWorkload(client, choiceOf(settings), signal);
  const images = { A: workload.image, B: targetImage(to, workload.image) };
  if (images.B === images.A) {
    // It may be in place because another swap is at it.
    if (how === 'in-place') await demandNoJournal(api, settings.leaseNamespace, world.clock.now());
    throw new BenchError('E_CONFIG', `--to ${to}: ${workload.title} runs ${workload.image} already`, {
      fix: 'Name another version or image.',
    });
  }
  const names = namesOf(images);
  const rounds = placements === undefined ? trials : placements.length / 2;
  const plan: SwapPlan = {
    ...{ workload, images, names, ownQueries },
    placements: (until === undefined ? rounds : Math.max(rounds, maxTrials)) * (aa ? 3 : 2),
    method:
      how === 'shadow'
        ? { copy: await copyFor(client, workload, signal) }
        : { edits: await planEdits(api, workload, images.B) },
  };
  const expectedSeconds = settle + 2 * idle + 2 * duration + SPARE_SECONDS;
  return {
    subjects: [names.A, names.B].map((name) => ({ name, title: titleOf(name) })),
    baseline: names.A,
    cases: [names.A, names.B].map((subject) => ({
      key: `${subject}/${how}/rate=${rate}`,
      subject,
      point: { method: how, rate },
      expectedSeconds,
    })),
    decided: plan,
    rounds,
    order: orderOf(sequenceOf(settings), names.A),
    summary: summaryOf(plan, settings),
    interruption: interruptionWords(settings),
  };
}

/** The report of a plan and its verification, for every format. Pure. */
import {
  answer,
  type Finding,
  numbers,
  only,
  type Section,
  type Tone,
} from '../../report/document/document.ts';
import {
  chart,
  code,
  documentFormats,
  facts,
  list,
  type ReportDocument,
  table,
  text,
} from '../../report/document/index.ts';
import { clusterFacts, environmentFacts } from '../../report/facts.ts';
import { formatBytes, formatCount, formatCpus, formatMebibytes } from '../../report/numbers.ts';
import { asSentence } from '../../text.ts';
import type { PhaseFigures } from './beside/phases.ts';
import { memoryText, PROGRAM_BYTES, wholeMebibytes } from './figures.ts';
import { configurationText, MEMORY_LIMIT, MEMORY_REQUEST } from './plan.ts';
import { planChart, seriesOf } from './plan-curves.ts';
import type { CapacityPlan, Figure, PlanRecord, Verdict, Verification } from './plan-record.ts';
import { planYaml } from './plan-yaml.ts';
import { heldReason, marginOf } from './verify/verification.ts';

const TONES: Readonly<Record<Verdict['fit'], Tone>> = {
  fits: 'good',
  'does not fit': 'bad',
  'cannot tell': 'warn',
};

const mebibytes = (bytes: number | null) => (bytes === null ? '–' : formatMebibytes(bytes));

/** As the Kubernetes objects have it. */
const limitText = (megabytes: number) => `${wholeMebibytes(megabytes)} MiB`;

function figureText({ name, value, unit }: Figure): string {
  if (name === MEMORY_REQUEST || name === MEMORY_LIMIT) return limitText(value);
  if (unit === 'MB') return memoryText(value);
  return unit === 'CPUs' ? formatCpus(value) : `${formatCount(value)}${unit === 'queries/s' ? ' /s' : ''}`;
}

/** Megabytes between the words of a record, but not those of a published formula; `45.4 to 48.2 MB` are two. */
const MEGABYTES = /(?<!÷ [\d,]+ \+ [\d.]*)(?<![\d.])(\d[\d.]*)(?: to (\d[\d.]*))? MB\b/g;

/** Records have megabytes, in sentences too. People write limits in Mi, so reports have MiB only. */
function inMebibytes(sentence: string): string {
  return sentence.replaceAll(MEGABYTES, (_text, ...ends: readonly (string | undefined)[]) =>
    ends
      .slice(0, 2)
      .flatMap((end) => (end === undefined ? [] : memoryText(Number(end))))
      .join(' to '),
  );
}

const FIGURES = 'The figures of the plan and where they come from';

const PHASE_TITLES: Readonly<Record<PhaseFigures['phase'], string>> = {
  'cold-start': 'cold start',
  rest: 'at rest',
  cache: 'full cache',
  load: 'under queries',
  relist: 'API server back',
  replace: 'other endpoints',
  outage: 'after an outage',
};

/** The figures of a phase: as a column for people, and for spreadsheets. */
const PHASE_FIGURES: readonly (readonly [
  title: string,
  name: string,
  of: (phase: PhaseFigures) => number | null,
])[] = [
  ['p95 MiB', 'p95_bytes', ({ p95Bytes }) => p95Bytes],
  ['peak MiB', 'peak_bytes', ({ peakBytes }) => peakBytes],
  ['resident MiB', 'resident_bytes', ({ rssBytes }) => rssBytes],
  ['heap in use MiB', 'heap_in_use_bytes', ({ heapInuseBytes }) => heapInuseBytes],
  ['queries', 'queries', ({ queries }) => queries.sent],
  ['lost', 'lost', ({ queries }) => queries.lost],
];

const phaseTable = ({ phases }: Verification) =>
  table(
    'Memory in each phase',
    ['', ...numbers(...PHASE_FIGURES.map(([title]) => title))],
    phases.map((phase) => [
      PHASE_TITLES[phase.phase],
      ...PHASE_FIGURES.map(([title, , of]) =>
        title.endsWith('MiB') ? mebibytes(of(phase)) : formatCount(of(phase) ?? 0),
      ),
    ]),
  );

const heldText = ({ held }: Verification) => (held ? 'held' : 'did not hold');

/** Of a plan that held from its figures; any other as it was told. */
const reasonFor = (verification: Verification) =>
  verification.held ? heldReason(verification) : inMebibytes(verification.because);

/** What was left of a limit that held. Whether a smaller one would have held was not tried: what is used differs from start to start. */
function marginText({ held, memoryLimitBytes, peakBytes }: Verification): string {
  // Not as it was recorded: older records leave the program out.
  const margin = marginOf(memoryLimitBytes, peakBytes);
  if (!held || margin === null || margin <= 0) return '';
  const less = margin > 0.2 ? 'more' : 'no more';
  return `; with ${formatBytes(PROGRAM_BYTES)} for the program, ${Math.round(margin * 100)} % of the limit was never used: 80 % of it is ${less} than was used`;
}

function verifiedFinding(verification: Verification): Finding {
  return {
    subject: 'The plan, verified',
    badge: { text: heldText(verification), tone: verification.held ? 'good' : 'bad' },
    sentence: `${reasonFor(verification)}${marginText(verification)}.`,
  };
}

const verdictFinding = ({ about, fit, because }: Verdict): Finding => ({
  subject: `Today's ${about}`,
  badge: { text: fit, tone: TONES[fit] },
  sentence: `${inMebibytes(because)}.`,
});

/** An answer has no badges. */
function withBadge(finding: Finding): Finding {
  return { ...finding, sentence: `${finding.badge.text}: ${finding.sentence}` };
}

/** A plan as it is printed, with its verification where there was one. */
export function planAnswer(plan: CapacityPlan, verification: Verification | undefined): ReportDocument {
  const verified = verification === undefined ? [] : [verification];
  const shown = (done: Verification): Section => {
    const { coredns, target, services, pods, endpoints, queriesPerSecond } = done;
    const where = target === 'local' ? 'on this machine' : 'on the cluster';
    const counts = [services, pods, endpoints, queriesPerSecond].map(formatCount);
    const what = `${coredns} ${where}: ${counts[0]} services, ${counts[1]} pods, ${counts[2]} endpoints, ${counts[3]} queries/s`;
    return { title: 'Verified', blocks: [text(what), phaseTable(done)] };
  };
  return answer({
    kind: 'Plan',
    title: `CoreDNS, ${configurationText(plan)}`,
    headline: '',
    findings: [...verified.map(verifiedFinding), ...plan.verdicts.map(verdictFinding)].map(withBadge),
    sections: [
      {
        title: '',
        blocks: [
          table(
            FIGURES,
            ['', ''],
            plan.figures.map((figure) => [
              { text: figure.name, below: inMebibytes(figure.basis) },
              figureText(figure),
            ]),
          ),
        ],
      },
      ...verified.map(shown),
      { title: 'Notes', blocks: [list(plan.notes.map(inMebibytes))] },
    ],
  });
}

/** The verdict on the plan in one line. */
export function planSummary({ plan, verification }: PlanRecord): string {
  const limit = `${limitText(plan.memoryLimitMegabytes)} for ${formatCount(plan.objects)} objects`;
  return `${limit}: ${heldText(verification)}`;
}

/** Of the cluster: the machine that asked it measured nothing. */
function onCluster(record: PlanRecord): (readonly [string, string])[] {
  const { environment, generator, id } = record;
  return [
    ...(environment.cluster === null ? [['Kubernetes', 'not recorded'] as const] : clusterFacts(record)),
    ['Asked from', environment.hostname],
    ['dinodns-bench', generator.version],
    ['Run', `${id}, from ${record.startedAt} to ${record.endedAt ?? 'no end'}`],
  ];
}

function conditions(record: PlanRecord): (readonly [string, string])[] {
  const { verification } = record;
  const where =
    verification.target === 'local'
      ? 'this machine, under a limit of a control group'
      : 'a cluster, with synthetic objects';
  return [
    ['Verified on', where],
    ['Program', verification.coredns],
    ['Queries', `${formatCount(verification.queriesPerSecond)} a second`],
    ['Command', record.command],
    ...(verification.target === 'local' ? environmentFacts(record) : onCluster(record)),
  ];
}

export function planDocument(record: PlanRecord): ReportDocument {
  const { plan, basis, curves, verification } = record;
  const verdict = `A memory limit of ${limitText(plan.memoryLimitMegabytes)} ${heldText(verification)} for ${formatCount(plan.objects)} pods and services: ${verification.held ? 'CoreDNS ' : ''}${reasonFor(verification)}.`;
  const known = plan.verdicts.filter(({ fit }) => fit !== 'cannot tell');
  return {
    kind: 'Capacity of cluster DNS, plan',
    title: `Plan for ${formatCount(plan.objects)} pods and services`,
    state: 'complete',
    headline: `${planSummary(record)}.`,
    facts: [record.startedAt.slice(0, 10), `run ${record.id}`],
    findings: [verifiedFinding(verification), ...plan.verdicts.map(verdictFinding)],
    warnings: record.warnings,
    series: seriesOf(curves),
    sections: [
      {
        title: 'The plan',
        blocks: [
          table(
            FIGURES,
            ['', ...numbers('value'), 'basis'],
            plan.figures.map((figure) => [figure.name, figureText(figure), inMebibytes(figure.basis)]),
          ),
          chart(planChart(plan, curves, basis.source)),
        ],
      },
      {
        title: 'Verified',
        blocks: [phaseTable(verification), list(plan.notes.map(inMebibytes))],
      },
      { title: 'As Kubernetes objects', blocks: [code(planYaml(plan), 'yaml')], isBrief: false },
      {
        title: 'Conditions',
        blocks: [facts(conditions(record)), ...only(['post'], code(record.command))],
        isBrief: false,
      },
    ],
    data: {
      columns: ['phase', ...PHASE_FIGURES.map(([, name]) => name)],
      rows: verification.phases.map((phase) => [phase.phase, ...PHASE_FIGURES.map(([, , of]) => of(phase))]),
    },
    post: {
      slug: `cluster-dns-capacity-${record.startedAt.slice(0, 10)}-plan-for-${plan.objects}-objects`,
      description: verdict,
      excerpt: [
        verdict,
        ...known.map(({ about, because }) => `Today's ${about}: ${inMebibytes(because)}.`),
      ].join(' '),
      caveats: [
        verification.target === 'local'
          ? 'It was verified on one machine, with generated objects and an API server of this project.'
          : 'It was verified with generated objects beside the DNS of this cluster.',
        ...plan.notes.slice(0, 1).map(inMebibytes),
        ...record.warnings,
      ].map(asSentence),
      tags: ['dns', 'coredns', 'kubernetes', 'capacity'],
      date: record.startedAt.slice(0, 10),
    },
    version: record.generator.version,
  };
}

export const planFormats = documentFormats(planDocument);

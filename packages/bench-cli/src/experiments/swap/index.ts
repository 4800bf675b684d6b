/** Swap: does another version of CoreDNS cost more in this cluster? */
import { exitStatusHelp } from '@dinodns-bench/program';
import type { Command } from 'commander';
import type { SettingsOf, SettingTable } from '../../config/setting.ts';
import { defineExperiment } from '../../engine/command.ts';
import type { Measuring, Opened, OpenRequest } from '../../engine/experiment.ts';
import { addFlags, givenFlags, RUN_REASONS } from '../../engine/flags.ts';
import type { Call, Experiment } from '../../engine/registered.ts';
import { decideSettings } from '../../engine/settings.ts';
import type { ServerRecord } from '../../results/record.ts';
import { buildDifferences, buildText } from './builds.ts';
import { swapDocument } from './document.ts';
import { type SwapEvidence, swapEvidenceSchema } from './evidence.ts';
import { estimandsOf } from './figures.ts';
import type { OpenedSwap, SwapPlan } from './placed.ts';
import { queryConditions } from './query-files.ts';
import { readingsCsv } from './readings.ts';
import {
  JOURNAL_SETTINGS,
  PLACE_SETTINGS,
  SWAP_GROUPS,
  SWAP_SETTINGS,
  type SwapSettings,
} from './settings.ts';

/** What went wrong with a change of the cluster, as an error that says what to do. */
async function explained<T>(act: () => Promise<T>): Promise<T> {
  const { explained: explain } = await import('../../cluster-changes/explain.ts');
  return explain(act);
}

function conditionsOf(
  { workload, method, ownQueries }: SwapPlan,
  { programs, loader: { kind, version }, conditions }: OpenedSwap,
): Record<string, string> {
  const { title, container, service, sidecars, cpuLimitCores, memoryLimitBytes, replicas } = workload;
  const pods = 'copy' in method ? method.copy.replicas : replicas;
  return {
    target: 'kubernetes',
    'load generator': `${kind} ${version}`,
    'DNS of the cluster': `${title}, container ${container}, Service ${service.name}`,
    pods: pods === null ? 'one on each node' : String(pods),
    ...(cpuLimitCores === null ? {} : { 'CPU limit': String(cpuLimitCores) }),
    ...(memoryLimitBytes === null ? {} : { 'memory limit': String(memoryLimitBytes) }),
    ...Object.fromEntries(Object.entries(sidecars).map(([name, image]) => [`sidecar ${name}`, image])),
    ...Object.fromEntries(
      programs.flatMap(({ name, executable, ...program }) => {
        const build = buildText(program);
        return [[`image of ${name}`, executable], ...(build === '' ? [] : [[`build of ${name}`, build]])];
      }),
    ),
    ...queryConditions(ownQueries),
    ...conditions,
  };
}

function warningsOf({ method }: SwapPlan, programs: readonly ServerRecord[]): string[] {
  const others = programs.filter(
    ({ name, version }) => name.startsWith('coredns@') && !name.endsWith(`@${version}`),
  );
  return [
    ...buildDifferences(programs),
    ...others.map(({ executable, version }) => `${executable} says that it is ${version}.`),
    ...('copy' in method
      ? [
          "The versions ran beside the cluster's DNS, which was not touched: they had none of its own background load.",
          ...method.copy.notCarriedOver.map((what) => `Not carried over to the copies: ${what}.`),
        ]
      : []),
  ];
}

async function open(request: OpenRequest<SwapSettings, SwapPlan>): Promise<Opened<Measuring<SwapEvidence>>> {
  const { decided: plan, display, world } = request;
  const { describeEnvironment } = await import('../../environment/describe.ts');
  const { openShadow } = await import('./shadow/shadow.ts');
  const { openInPlace } = await import('./in-place/in-place.ts');
  const asked = { ...request, say: (text: string) => display.line(text) };
  const { method } = plan;
  // Before anything is opened: an error from here on would leave that to the guard.
  const environment = await describeEnvironment(world);
  const swap = await ('copy' in method ? openShadow(asked, method.copy) : openInPlace(asked, method.edits));
  const { programs } = swap;
  return {
    context: {
      measure: (planned) => swap.place(planned, planned.case.subject === plan.names.A ? 'A' : 'B'),
    },
    environment: { ...environment, cluster: swap.opened.cluster },
    programs,
    provisioned: [],
    conditions: conditionsOf(plan, swap),
    warnings: [...swap.opened.warnings, ...warningsOf(plan, programs)],
    ...(swap.lost === undefined ? {} : { lost: swap.lost }),
    closing: () => swap.closing?.() ?? [],
    [Symbol.asyncDispose]: () => swap.close(),
  };
}

const EXAMPLES = `
Examples:
  bench swap --to 1.14.1                       beside the cluster's DNS
  bench swap --to 1.14.1 --until verdict       until it is sure
  bench swap --to 1.14.1 --method in-place --yes-change-cluster-dns
                                               in its place, and put back`;

const experiment = defineExperiment({
  name: 'swap',
  question: 'Does another version of CoreDNS cost more in this cluster?',
  description:
    "does another version of CoreDNS cost more in this cluster? Leaves the cluster's DNS alone unless you use --method in-place",
  settings: SWAP_SETTINGS,
  commands: [{ command: 'swap', groups: SWAP_GROUPS, examples: EXAMPLES }],
  plan: (settings, world) => explained(async () => (await import('./plan.ts')).planSwap(settings, world)),
  open: (request) => explained(() => open(request)),
  evidence: swapEvidenceSchema,
  trial: ({ measure }: Measuring<SwapEvidence>, planned, on) => explained(() => measure(planned, on)),
  estimands: estimandsOf,
  document: swapDocument,
  formats: [readingsCsv],
});

/** They read no run. */
const BELOW_REASONS = RUN_REASONS.filter((reason) => reason !== 'record');
const BELOW_HELP = exitStatusHelp(BELOW_REASONS, {
  failedTrials: 'somebody else changed the cluster meanwhile',
});

/** A command below `bench swap` with the settings of `table`, some of which `bench swap` has as well. */
function addBelow<T extends SettingTable>(
  command: Command,
  call: Call,
  table: T,
  act: (settings: SettingsOf<T>, values: Record<string, unknown>) => Promise<number>,
): void {
  addFlags(command, table)
    // Not in the words of the command above.
    .helpOption('-h, --help', 'display help for command')
    .addHelpText('after', BELOW_HELP)
    .action(async (_flags: unknown, own: Command) => {
      const values = own.optsWithGlobals();
      const given = { flags: givenFlags(table, values), file: undefined };
      const settings = await decideSettings(call.world, `swap ${own.name()}`, table, given);
      call.status = await explained(() => act(settings, values));
    });
}

function addRest(swap: Command, call: Call): void {
  const { world } = call;
  const isJson = ({ json }: Record<string, unknown>) => json === true;
  const { rare: _, ...readyTime } = PLACE_SETTINGS.readyTime;
  addBelow(
    swap
      .command('status')
      .description('changes that a swap made in this cluster, and which of them are put back')
      .option('--json', 'print it as JSON'),
    call,
    JOURNAL_SETTINGS,
    async ({ context, leaseNamespace }, values) =>
      (await import('../../cluster-changes/status-command.ts')).statusCommand(world, {
        context,
        leaseNamespace,
        json: isJson(values),
      }),
  );
  addBelow(
    swap
      .command('restore')
      .description('put back the changes of a swap, from any machine; a swap that is still running stops')
      .option('--run <id>', 'only if it is this run'),
    call,
    { ...JOURNAL_SETTINGS, readyTime },
    async ({ context, leaseNamespace, readyTime: settleSeconds }, { run }) =>
      (await import('../../cluster-changes/restore-command.ts')).restoreCommand(world, {
        ...{ context, leaseNamespace, settleSeconds },
        run: run === undefined ? undefined : String(run),
      }),
  );
  const { duration } = SWAP_SETTINGS;
  addBelow(
    swap
      .command('canary')
      .description(
        'ask the DNS of the cluster as a client does, for a while: `kubectl rollout restart` meanwhile shows what an ordinary rolling update loses',
      )
      .option('--json', 'print the counts as JSON'),
    call,
    { ...PLACE_SETTINGS, duration: { ...duration, description: 'how long' } },
    async (settings, values) =>
      (await import('./canary-command.ts')).canaryCommand(world, settings, isJson(values)),
  );
}

export const swap: Experiment = {
  ...experiment,
  addCommands: async (program, call) => {
    await experiment.addCommands(program, call);
    const command = program.commands.find((each) => each.name() === experiment.name);
    if (command !== undefined) addRest(command, call);
  },
};

/** The commands of the capacity experiment, with their flags. */
import type { Command } from 'commander';
import type { Call } from '../../engine/registered.ts';
import { caching, throughput } from './cases/index.ts';
import { addClusterFlags } from './cluster/cluster-flags.ts';
import { DEFAULT_MAX_OBJECTS } from './cluster/settings.ts';
import { addMeasureCommands } from './measure-commands.ts';
import { capacityMemory } from './memory/index.ts';
import type { PlanFlags } from './plan-command.ts';

export async function addCapacityCommands(program: Command, call: Call): Promise<void> {
  const capacity = program.command('capacity');
  await capacityMemory.addCommands(program, call);
  addMeasureCommands(capacity, call);
  for (const experiment of [throughput, caching]) experiment.addCommands(program, call);
  const plan = capacity
    .command('plan')
    .description(
      'memory, replicas and their YAML, from the size of a cluster and what was measured or published',
    )
    .option('--pods <n>', 'pods of the cluster')
    .option('--services <n>', 'services of the cluster')
    .option('--endpoints <n>', 'addresses behind the services (default: every pod is behind one service)')
    .option('--from-cluster', 'count pods, services and nodes, and read the DNS pods (read rights only)')
    .option('--context <name>', 'context of the kubeconfig (default: its current one)')
    .option('--lookups-internal <n>', 'lookups of names of the cluster, per second (default: 0)')
    .option('--lookups-external <n>', 'lookups of other names, per second (default: 0)')
    .option('--autopath', 'CoreDNS has the autopath plugin and watches pods')
    .option('--families <n>', '1: programs ask for A; 2: for A and AAAA (default: 2)')
    .option('--search-domains <n>', 'domains of the search list (default: 4)')
    .option('--memory-limit <quantity>', 'memory limit of the DNS pods today: 170Mi')
    .option('--replicas <n>', 'DNS pods today')
    .option('--nodes <n>', 'nodes of the cluster')
    .option(
      '--basis <run>',
      "a run of bench capacity memory or throughput, both (RUN+RUN), or published (default: this machine's newest that fit)",
    )
    .option('--out <directory>', 'directory of the runs (default: results)')
    .option('--chart <file>', 'write memory against objects as an SVG')
    .option('--extrapolate', 'plan for more than twice the objects that were measured')
    .option('--verify', 'start what the plan recommends, with objects and queries, and see whether it holds')
    .option(
      '--target <name>',
      'where to verify: local, or kubernetes (default: with --from-cluster, the cluster)',
    )
    .option(
      '--max-objects <n>',
      `pods and services to create on a cluster, at most (default: ${DEFAULT_MAX_OBJECTS})`,
    )
    .option('--verify-limit <quantity>', 'verify this memory limit instead of the recommended one: 120Mi')
    .option('--coredns-version <version>', 'version of CoreDNS to plan for and to verify')
    .option('--yaml', 'print a patch with the resources, and the ConfigMap of the autoscaler')
    .option('--json', 'print the plan as JSON');
  // What is for a cluster only comes last.
  addClusterFlags(plan)
    .addHelpText('after', call.exitStatusHelp)
    .action(async (flags: PlanFlags) => {
      const { planCommand } = await import('./plan-command.ts');
      call.status = await planCommand(call.world, flags, call.argv);
    });
}

/** The command of the lookup experiment, with its flags. */
import type { Command } from 'commander';
import type { Call } from '../../engine/registered.ts';
import { LOOKUP_DEFAULTS, lookupOptions } from './options.ts';
import { addClusterFlags, type ClusterFlags, isClusterTarget } from './pods/cluster-flags.ts';
import { POLICY_MODES } from './policy/modes.ts';
import { CLIENTS } from './sampling/sampler.ts';

async function runTarget({ world, argv }: Call, flags: ClusterFlags): Promise<number> {
  const { runTigerTests, testsFileOf } = await import('./tiger/run-tests.ts');
  const tests = testsFileOf(world, flags);
  if (isClusterTarget(flags) || tests !== undefined) {
    if (tests !== undefined) return runTigerTests(world, flags, argv, tests);
    const { runInCluster } = await import('./pods/run.ts');
    return runInCluster(world, flags, argv);
  }
  const { runLookup } = await import('./run.ts');
  return runLookup(world, lookupOptions(flags), argv);
}

export function addLookupCommands(program: Command, call: Call): void {
  const command = program
    .command('lookup')
    .option(
      '--url <url>',
      `page behind a name (default: ${LOOKUP_DEFAULTS.url}; with --local ${LOOKUP_DEFAULTS.localUrl})`,
    )
    .option(
      '--duration <time>',
      `time of each resolver, mode or client, over all trials (default: ${LOOKUP_DEFAULTS.duration})`,
    )
    .option('--trials <n>', `rounds, in which everything takes its turn (default: ${LOOKUP_DEFAULTS.trials})`)
    .option(
      '--pace <time>',
      'from the start of a sample to that of the next, at least (default: 0; with --simulate-policy that of the slowest mode)',
    )
    .option('--client <list>', `what takes samples: ${CLIENTS.join(', ')} (default: curl)`)
    .option(
      '--local',
      'measure between two network namespaces of this machine, with servers of bench as resolvers (root)',
    )
    .option('--servers <list>', `with --local: the resolvers (default: ${LOOKUP_DEFAULTS.server})`)
    .option('--search <domains>', 'with --local: search list of the client (default: none)')
    .option('--ndots <n>', `with --local: ndots of the client (default: ${LOOKUP_DEFAULTS.ndots})`)
    .option('--ipv6', 'with --local: the site has an IPv6 address, too')
    .option('--ecn', 'with --local: the client asks for ECN')
    .option('--simulate-policy <modes>', `with --local: simulate DNS policy: ${POLICY_MODES.join(', ')}`)
    .option(
      '--program-delay <time>',
      `delay of the simulated policy agent (default: ${LOOKUP_DEFAULTS.programDelay})`,
    )
    .option('--coredns-version <version>', 'with --local: version of CoreDNS')
    .option('--domains <n>', 'names that a DNS policy allows, the first of them that of --url')
    .option('--no-capture', 'do not capture packets: no duplicates, no queries')
    .option('--no-provision', 'use only programs that are there')
    .option('--config <file>', 'on a cluster: tests of tiger-bench, a YAML list (also in TESTCONFIGFILE)')
    .option('--out <directory>', `where results go (default: ${LOOKUP_DEFAULTS.out})`)
    .option('--format <name>', 'what is printed: terminal, json or tiger-bench (default: terminal)')
    .option('--json', 'print the record instead of the tables');
  addClusterFlags(command)
    .addHelpText('after', call.exitStatusHelp)
    .action(async (flags: ClusterFlags) => {
      call.status = await runTarget(call, flags);
    });
}

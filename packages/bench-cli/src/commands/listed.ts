/** Every command, in the order of `bench --help`: what the help says of it, and where its flags are. */
import type { ListedCommand } from '../engine/registered.ts';
import { EXPERIMENT_COMMANDS } from '../experiments/registry.ts';

const history = () => import('./history-commands.ts');
const machine = () => import('./machine-commands.ts');
const report = () => import('./report-commands.ts');

// biome-ignore format: a line for each
const OTHER_COMMANDS: readonly (readonly [usage: string, description: string, load: ListedCommand['load']])[] = [
  ['report [options] <run>', 'render the reports of a run again from its record', async () => (await report()).addReport],
  ['open [options] <run>', 'open the page of a run in a browser', async () => (await report()).addOpen],
  ['site [options] [run...]', 'all runs as a web site of static files', async () => (await report()).addSite],
  ['servers [options]', 'list the servers that can be compared, and whether they are installed', async () => (await machine()).addServers],
  ['doctor [options]', 'check this machine for missing programs and rights', async () => (await machine()).addDoctor],
  ['cleanup [options]', 'remove leftovers of killed runs from a cluster', async () => (await machine()).addCleanup],
  ['history [options]', 'list runs and imported measurements, newest first', async () => (await history()).addHistory],
  ['compare [options] <run...>', 'compare runs, or sets of their cases, with the first of them', async () => (await history()).addCompare],
  ['trend [options]', 'a figure over time, and where its level changed', async () => (await history()).addTrend],
  ['gate [options] [run]', 'for CI: fail if a figure is shown to be worse than tolerated', async () => (await history()).addGate],
  ['reproduce [options] <name> [run]', 'published ratios beside those of a run', async () => (await history()).addReproduce],
  ['import [options] <file...>', 'import measurements of other programs, to compare them', async () => (await history()).addImport],
];

export const COMMANDS: readonly ListedCommand[] = [
  ...EXPERIMENT_COMMANDS,
  ...OTHER_COMMANDS.map(([usage, description, load]) => ({ usage, description, load })),
];

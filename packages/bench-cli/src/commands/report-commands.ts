/** The flags of the commands about the reports of runs: report, open, site. */
import type { Command } from 'commander';
import { runsDirectory } from '../config/settings.ts';
import type { Call } from '../engine/registered.ts';
import { allFormats } from '../experiments/registry.ts';
import type { OpenOptions } from './open.ts';
import type { ReportOptions } from './report.ts';
import type { SiteOptions } from './site.ts';

const RUN = ['<run>', 'latest, or a tag, id, git branch, commit, folder or run.json'] as const;
const DELTA = ['--delta <definition>', 'relative or symmetric (default: as in the record)'] as const;
/** Of every command that reads runs. */
export const outOf = ({ world }: Call) =>
  ['--out <directory>', 'directory of the runs', runsDirectory(world.env)] as const;

const HELP_WORDS = ['--help', '-h', 'help'];

/** What `--format` takes. */
async function formatsHelp(): Promise<string> {
  const formats = await allFormats();
  const names = formats.map(({ name, aliases = [] }) => [name, ...aliases].join(', '));
  const width = Math.max(...names.map((name) => name.length));
  const lines = formats.map(
    ({ description }, index) => `  ${(names[index] ?? '').padEnd(width)}  ${description}`,
  );
  return `\nFormats (a single text goes to stdout; several formats, and pictures, to files):\n${lines.join('\n')}`;
}

export async function addReport(program: Command, call: Call): Promise<void> {
  // Formats are declared beside what renders them, which is much to load for a command that does not show them.
  const help = call.argv.some((word) => HELP_WORDS.includes(word)) ? await formatsHelp() : '';
  program
    .command('report')
    .argument(...RUN)
    .option(...DELTA)
    .option('--format <names>', 'one or more of the formats below, separated by commas')
    .option('--to <directory>', 'directory for the files (default: beside the record)')
    .option('--post-author <list>', "authors of a post: keys of Docusaurus' authors.yml, or names")
    .option('--post-slug <path>', 'its address (default: date and servers)')
    .option('--post-title <text>', 'its title')
    .option('--post-tags <list>', 'its tags (default: benchmark, dns and the servers)')
    .option('--post-date <date>', 'its date (default: the day of the run)')
    .option(...outOf(call))
    .addHelpText('after', help)
    .action(async (run: string, values: Omit<ReportOptions, 'run'>) => {
      const { reportCommand } = await import('./report.ts');
      call.status = await reportCommand(call.world, { ...values, run });
    });
}

export function addOpen(program: Command, call: Call): void {
  program
    .command('open')
    .argument(...RUN)
    .option(...DELTA)
    .option(...outOf(call))
    .action(async (run: string, values: Omit<OpenOptions, 'run'>) => {
      const { openCommand } = await import('./open.ts');
      call.status = await openCommand(call.world, { ...values, run });
    });
}

export function addSite(program: Command, call: Call): void {
  program
    .command('site')
    .argument('[run...]', 'ids of runs, their folders or tags (default: all runs of --results)')
    .requiredOption('--out <directory>', 'directory of the site: new, empty, or one that bench site made')
    .option('--results <directory>', 'directory of the runs', runsDirectory(call.world.env))
    .option('--url <address>', 'where the site will be, for its feed: https://example.org/dns/')
    .action(async (runs: string[], values: Omit<SiteOptions, 'runs'>) => {
      const { siteCommand } = await import('./site.ts');
      call.status = await siteCommand(call.world, { ...values, runs });
    });
}

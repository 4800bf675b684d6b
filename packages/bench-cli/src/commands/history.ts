/** `bench history`: lists runs, reads their records again, names runs. */
import { resolve } from 'node:path';
import { withoutPath } from '../config/paths.ts';
import { canonicalServerName, parseServerName } from '../config/server-name.ts';
import { BenchError } from '../errors.ts';
import { listDocument } from '../history/documents/list.ts';
import type { RunRow } from '../history/listing.ts';
import { publishedRows } from '../history/published.ts';
import { loadEntry, whyNoRuns } from '../history/resolve.ts';
import { removeTag, writeTag } from '../history/tags.ts';
import { printJson } from '../output.ts';
import { capitalized, counted } from '../text.ts';
import type { World } from '../world.ts';
import { answering, knownRuns, type QuestionOptions } from './history-options.ts';

export interface HistoryOptions
  extends QuestionOptions,
    Partial<
      Record<
        'server' | 'branch' | 'commit' | 'tag' | 'kind' | 'status' | 'since' | 'before' | 'limit',
        string
      >
    > {}

const DATE = /^(?<day>\d{4}-\d{2}-\d{2})(?:[T ](?<time>\d{2}:\d{2}[\d:.]*))?(?<zone>Z|[+-]\d{2}:\d{2})?$/;

/** The moment that a date (or date and time) begins, in UTC unless it says otherwise. */
function momentFrom(text: string, flag: string): number {
  const { day, time = '00:00', zone = 'Z' } = DATE.exec(text)?.groups ?? {};
  const moment = day === undefined ? Number.NaN : Date.parse(`${day}T${time}${zone}`);
  if (!Number.isNaN(moment)) return moment;
  throw new BenchError('E_USAGE', `${flag}: ${JSON.stringify(text)} is not a date`, {
    fix: `Write it as ${flag} 2026-11-21 or ${flag} 2026-11-21T14:00:00Z.`,
  });
}

function limitFrom(text: string | undefined): number {
  if (text === undefined) return 20;
  if (/^\d+$/.test(text) && Number(text) > 0) return Number(text);
  throw new BenchError('E_USAGE', `--limit: ${JSON.stringify(text)} must be a whole number from 1`, {
    fix: 'Omit it for the 20 newest.',
  });
}

function oneOf(text: string | undefined, flag: string, values: readonly string[]): string | undefined {
  if (text === undefined || values.includes(text)) return text;
  throw new BenchError('E_USAGE', `${flag}: ${JSON.stringify(text)} must be one of ${values.join(', ')}`, {
    fix: 'Omit it for all.',
  });
}

/** Whether `name` is the server that was asked for; a kind stands for all of its versions and variants. */
function isServer(subject: string, asked: string): boolean {
  const name = withoutPath(subject);
  return name === canonicalServerName(asked) || parseServerName(name)?.kind === asked;
}

function filterOf(options: HistoryOptions, tags: ReadonlyMap<string, string>): (run: RunRow) => boolean {
  const kind = oneOf(options.kind, '--kind', ['run', 'imported', 'published']);
  const status = oneOf(options.status, '--status', ['complete', 'interrupted', 'running', 'imported']);
  const since = options.since === undefined ? null : momentFrom(options.since, '--since');
  const before = options.before === undefined ? null : momentFrom(options.before, '--before');
  const { server, branch, commit, tag } = options;
  return (run) =>
    (kind === undefined || run.kind === kind) &&
    (status === undefined || run.status === status) &&
    (server === undefined || run.servers.some((name) => isServer(name, server))) &&
    (branch === undefined || run.branch === branch) &&
    (commit === undefined || run.commit?.startsWith(commit) === true) &&
    (tag === undefined || tags.get(tag) === run.id) &&
    (since === null || Date.parse(run.startedAt) >= since) &&
    (before === null || Date.parse(run.startedAt) < before);
}

export async function historyCommand(world: World, options: HistoryOptions): Promise<number> {
  const answer = answering(world, options.format);
  const limit = limitFrom(options.limit);
  // Reports a wrong filter before anything is read.
  filterOf(options, new Map());
  const known = await knownRuns(world, options.out);
  const listed = options.kind === 'published' ? publishedRows() : known.runs;
  const matching = listed.filter(filterOf(options, known.tags));
  const shown = matching.slice(0, limit);
  const tagsOf = (id: string) => [...known.tags].flatMap(([name, tagged]) => (tagged === id ? [name] : []));
  if (matching.length === 0 && options.format !== 'json') {
    const { why, fix } = await whyNoRuns(world, known);
    world.stderr.write(
      listed.length === 0 ? `${capitalized(why)}. ${fix}\n` : `None of ${listed.length} runs is like that.\n`,
    );
    return 0;
  }
  answer(
    shown.map(({ estimands, cases, ...run }) => ({
      ...run,
      cases: cases.length,
      figures: estimands.map(({ name }) => name),
      tags: tagsOf(run.id),
    })),
    listDocument(shown, tagsOf, matching.length - shown.length),
  );
  return 0;
}

/** Reads all records again. Those that cannot be read are listed; the command still succeeds. */
export async function rebuildCommand(
  world: World,
  options: { out: string; json?: boolean },
): Promise<number> {
  const directory = resolve(world.cwd, options.out);
  if ((await world.fs.stat(directory).catch(() => null))?.isDirectory() !== true) {
    throw new BenchError('E_RECORD_UNREADABLE', `there is no directory ${directory}`, {
      fix: 'Give the results directory with --out.',
    });
  }
  const { runs, problems } = await knownRuns(world, options.out, { isAnew: true });
  const files = runs.length + problems.length;
  if (options.json === true) printJson(world, { files, problems });
  else world.stdout.write(`Read ${counted(files, 'record')} in ${directory}\n`);
  return 0;
}

/** Names a run, or removes its name. */
export async function tagCommand(
  world: World,
  options: { run: string; name: string; out: string; remove?: boolean },
): Promise<number> {
  const known = await knownRuns(world, options.out);
  if (options.remove === true) {
    await removeTag(world, known.resultsDirectory, options.name);
    return 0;
  }
  const { id } = await loadEntry(world, known, options.run);
  const indexed = known.runs.find((run) => run.id === id);
  if (indexed === undefined) {
    throw new BenchError('E_USAGE', `run ${id} is not in ${known.resultsDirectory}`, {
      fix: 'Give its results directory with --out.',
    });
  }
  await writeTag(world, known.resultsDirectory, options.name, id);
  world.stdout.write(`${options.name} is run ${id} now\n`);
  return 0;
}

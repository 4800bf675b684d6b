/** `bench site`: all runs as static files. */
import { basename, dirname, join, resolve } from 'node:path';
import { BenchError } from '../errors.ts';
import { openRun } from '../experiments/registry.ts';
import { findRun } from '../history/resolve.ts';
import { makeDirectories } from '../results/make-directories.ts';
import { createStore } from '../results/store.ts';
import { writeError } from '../results/write-whole.ts';
import { MARKER, siteFiles } from '../site/site.ts';
import { type SiteRun, slugsOf } from '../site/site-run.ts';
import { counted } from '../text.ts';
import { BENCH_VERSION } from '../version.ts';
import type { World } from '../world.ts';
import { knownRuns } from './history-options.ts';

export interface SiteOptions {
  /** Ids, paths, tags; all runs if empty. */
  readonly runs: readonly string[];
  readonly out: string;
  /** Directory of the runs. */
  readonly results: string;
  readonly url: string | undefined;
}

function addressOf(url: string | undefined): string {
  if (url === undefined) return '';
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url.endsWith('/') ? url : `${url}/`;
  throw new BenchError('E_USAGE', `--url: ${JSON.stringify(url)} is not an address of the web`, {
    fix: 'Write it as --url https://example.org/dns/, or omit it: only the feed needs it.',
  });
}

/** Refuses a directory with anything in it that `bench site` did not make. */
async function checkTarget({ fs }: World, target: string, out: string): Promise<void> {
  const stats = await fs.stat(target).catch(() => null);
  if (stats === null) return;
  const names = stats.isDirectory() ? await fs.readdir(target) : [''];
  if (names.length === 0 || names.includes(MARKER)) return;
  const what = stats.isDirectory()
    ? 'the directory is not empty, and bench site did not make it'
    : 'it is a file';
  throw new BenchError('E_USAGE', `--out ${out}: ${what}`, {
    fix: 'Give a new or empty directory, or one that `bench site` made: its content is replaced.',
  });
}

async function pathsOf(world: World, { runs, results }: SiteOptions): Promise<string[]> {
  const directory = resolve(world.cwd, results);
  const known = await knownRuns(world, results);
  if (runs.length > 0) {
    return runs.map((run) => findRun(known, run)?.path ?? run);
  }
  // Measurements of other programs have no reports.
  const own = known.runs.flatMap(({ kind, path }) => (kind === 'run' ? [path] : []));
  // Those that cannot be read are refused together.
  const paths = [...own, ...known.problems.map(({ path }) => path)];
  if (paths.length > 0) return paths;
  throw new BenchError('E_RECORD_UNREADABLE', `there are no runs in ${directory}`, {
    fix: 'Make one with `bench run`, name runs, or give another directory with --results.',
  });
}

/** `bench capacity memory` and `bench capacity throughput` are two questions. */
function partOf([command, part = '']: readonly string[]): string {
  return command === 'capacity' && /^[a-z]+$/.test(part) ? `, ${part}` : '';
}

/** All of them, the newest first. Rejects with one error for all that cannot be read. */
async function readRuns(world: World, options: SiteOptions): Promise<SiteRun[]> {
  const store = createStore(world, options.results);
  const problems: BenchError[] = [];
  const read: Omit<SiteRun, 'slug'>[] = [];
  for (const reference of await pathsOf(world, options)) {
    try {
      const found = await store.find(reference);
      const opened = await openRun(found);
      const { id, startedAt, command, argv } = opened.header;
      const brief = await opened.brief({ delta: opened.delta });
      if (brief !== null && !read.some((run) => run.id === id))
        read.push({
          id,
          startedAt,
          command,
          brief: { ...brief, question: `${brief.question}${partOf(argv)}` },
          entry: opened.entry(),
        });
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      problems.push(error);
    }
  }
  const [first] = problems;
  if (problems.length === 1 && first !== undefined) throw first;
  if (first !== undefined) {
    throw new BenchError('E_RECORD_UNREADABLE', `${counted(problems.length, 'run')} cannot be read`, {
      fix: 'Name the runs that belong on the site, or move these out of the directory of the runs.',
      evidence: problems.map(({ message }) => message),
    });
  }
  const slugs = slugsOf(read.map(({ id }) => id));
  return read
    .map((run) => ({ ...run, slug: slugs.get(run.id) ?? '' }))
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt));
}

/** Readers see the old site or the new one. */
async function replaceDirectory({ fs }: World, temporary: string, target: string): Promise<void> {
  const old = `${temporary}.old`;
  const hadOne = (await fs.stat(target).catch(() => null)) !== null;
  if (hadOne) await fs.rename(target, old);
  await fs.rename(temporary, target).catch(async (error) => {
    if (hadOne) await fs.rename(old, target);
    throw error;
  });
  await fs.rm(old, { recursive: true, force: true });
}

export async function siteCommand(world: World, options: SiteOptions): Promise<number> {
  const { fs, cwd, processes } = world;
  const url = addressOf(options.url);
  const target = resolve(cwd, options.out);
  await checkTarget(world, target, options.out);
  const runs = await readRuns(world, options);
  const temporary = join(dirname(target), `.${basename(target)}.${processes.ownPid}.tmp`);
  let files = 0;
  let bytes = 0;
  try {
    for await (const { path, content } of siteFiles(runs, { url, version: BENCH_VERSION })) {
      const file = join(temporary, path);
      await makeDirectories(fs, dirname(file));
      await fs.writeFile(file, content);
      files += 1;
      bytes += Buffer.byteLength(content);
    }
    await replaceDirectory(world, temporary, target);
  } catch (error) {
    throw writeError(target, error);
  } finally {
    await fs.rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
  world.stdout.write(`${join(options.out, 'index.html')}\n`);
  world.stderr.write(
    `${counted(runs.length, 'run')}, ${counted(files, 'file')}, ${Math.ceil(bytes / 1000)} kB\n`,
  );
  return 0;
}

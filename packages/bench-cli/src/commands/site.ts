/** `bench site`: all runs as static files. */
import { basename, dirname, join, resolve } from 'node:path';
import { BenchError } from '../errors.ts';
import { openRun } from '../experiments/registry.ts';
import { locateRun } from '../history/resolve.ts';
import type { Finding } from '../report/document/document.ts';
import { slugsOf } from '../report/front-matter.ts';
import { makeDirectories } from '../results/make-directories.ts';
import { createStore } from '../results/store.ts';
import { replaceDirectory, writeError } from '../results/write-whole.ts';
import { MARKER, siteFiles } from '../site/site.ts';
import type { SiteRun } from '../site/site-run.ts';
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
  readonly url?: string;
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

/** Where no difference was shown, nobody is ahead. */
function asTie(finding: Finding): Finding {
  const isTie = /^(?:no difference shown|≈)/.test(finding.badge.text);
  return isTie ? { ...finding, badge: { ...finding.badge, text: 'tied' } } : finding;
}

/** Those that are named, or all of them, the newest first. */
async function readRuns(world: World, { runs, results }: SiteOptions): Promise<SiteRun[]> {
  const store = createStore(world, results);
  const known = await knownRuns(world, results);
  if (runs.length === 0 && known.problems.length > 0) {
    throw new BenchError('E_RECORD_UNREADABLE', `${counted(known.problems.length, 'run')} cannot be read`, {
      fix: 'Name the runs that belong on the site, or move these out of the directory of the runs.',
      evidence: known.problems.map(({ path, problem }) => `${path}: ${problem}`),
    });
  }
  // Measurements of other programs have no reports.
  const own = known.runs.flatMap(({ kind, path }) => (kind === 'run' ? [path] : []));
  const read = new Map<string, Omit<SiteRun, 'slug'>>();
  const named = runs.map((run) => locateRun(world, known, run));
  for (const path of runs.length > 0 ? await Promise.all(named) : own) {
    const opened = await openRun(await store.find(path));
    const { id, command } = opened.header;
    const brief = await opened.brief({ delta: opened.delta });
    if (brief === null) continue;
    const findings = brief.findings.map(asTie);
    read.set(id, { command, entry: opened.entry(), brief: { ...brief, findings } });
  }
  if (read.size === 0) {
    const where =
      runs.length > 0 ? 'these runs have no report' : `there are no runs in ${resolve(world.cwd, results)}`;
    throw new BenchError('E_RECORD_UNREADABLE', where, {
      fix: 'Make one with `bench run`, name runs, or give another directory with --results.',
    });
  }
  const slugs = slugsOf([...read.keys()]);
  return [...read]
    .map(([id, run]) => ({ ...run, slug: slugs.get(id) ?? '' }))
    .toSorted((a, b) => b.entry.startedAt.localeCompare(a.entry.startedAt));
}

export async function siteCommand(world: World, options: SiteOptions): Promise<number> {
  const { fs, cwd, processes } = world;
  const url = addressOf(options.url);
  const named = resolve(cwd, options.out);
  // What a link leads to is replaced, not the link.
  const target = await fs.realpath(named).catch(() => named);
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
    await replaceDirectory(fs, temporary, target);
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

/** Runs as the site sees them, and the groups in which it shows them. Pure. */
import type { Entry } from '../history/entry.ts';
import { slugsOf } from '../report/front-matter.ts';
import type { Brief } from '../report/renderer.ts';
import { kindTitle } from '../servers/registry.ts';

export interface SiteRun {
  /** Name of its files: unique, and safe in paths and addresses. */
  readonly slug: string;
  /** Repeats the run. */
  readonly command: string;
  readonly entry: Entry;
  readonly brief: Brief;
}

/** Runs with something in common, the newest first. */
export interface Group {
  readonly title: string;
  readonly slug: string;
  readonly runs: readonly SiteRun[];
}

export interface Site {
  readonly runs: readonly SiteRun[];
  /** Runs that repeat each other, the newest first; those of whose newest run little is sure, last. */
  readonly comparisons: readonly (readonly SiteRun[])[];
  readonly questions: readonly Group[];
  /** One for each kind of server, whatever its version and variant. */
  readonly servers: readonly Group[];
  /** Of bench. */
  readonly version: string;
}

/** Without the name of the host, which says nothing to readers. */
export const machineText = ({ machine }: Pick<Entry, 'machine'>) => machine.slice(machine.indexOf(', ') + 2);

function grouped(runs: readonly SiteRun[], titlesOf: (run: SiteRun) => readonly string[]): Group[] {
  const slugs = slugsOf(runs.flatMap(titlesOf));
  return [...slugs].map(([title, slug]) => ({
    title,
    slug,
    runs: runs.filter((run) => titlesOf(run).includes(title)),
  }));
}

/** Equal for the same question about the same cases, measured on the same machine or cluster in the same way. */
const comparisonOf = ({ brief, entry }: SiteRun) =>
  JSON.stringify([
    ...[brief.question, brief.title, entry.machine],
    ...entry.cases.map(({ key }) => key).toSorted(),
  ]);

/** Trials failed, or there is but one of each case, which does not tell how sure its result is. */
const isWeak = ({ brief, entry: { cases } }: SiteRun) =>
  brief.state !== 'complete' || (cases.length > 0 && cases.every(({ trials }) => trials.length < 2));

/** `runs`: the newest first. */
export function siteOf(runs: readonly SiteRun[], version: string): Site {
  const comparisons = [...Map.groupBy(runs, comparisonOf).values()];
  const isSure = ([newest]: readonly SiteRun[]) => newest !== undefined && !isWeak(newest);
  return {
    ...{ runs, version },
    comparisons: comparisons.toSorted((a, b) => Number(isSure(b)) - Number(isSure(a))),
    questions: grouped(runs, ({ brief }) => [brief.question]),
    servers: grouped(runs, ({ entry }) => entry.servers.map(kindTitle)),
  };
}

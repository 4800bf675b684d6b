/** Runs as the site sees them, and the groups in which it shows them. Pure. */
import { withoutPath } from '../config/paths.ts';
import { parseServerName } from '../config/server-name.ts';
import type { Entry } from '../history/entry.ts';
import type { Brief } from '../report/renderer.ts';
import { serverTitle } from '../servers/registry.ts';

export interface SiteRun {
  readonly id: string;
  /** Name of its files: unique, and safe in paths and addresses. */
  readonly slug: string;
  readonly startedAt: string;
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

export interface Groups {
  /** Runs that repeat each other, the newest first; those of whose newest run little is sure, last. */
  readonly comparisons: readonly (readonly SiteRun[])[];
  readonly questions: readonly Group[];
  /** One for each kind of server, whatever its version and variant. */
  readonly servers: readonly Group[];
}

export interface Site extends Groups {
  readonly runs: readonly SiteRun[];
  /** Of bench. */
  readonly version: string;
}

/** Names of files for names of any kind: each another one, on file systems that fold cases too. */
export function slugsOf(names: readonly string[]): Map<string, string> {
  const taken = new Set<string>();
  const slugs = new Map<string, string>();
  for (const name of new Set(names)) {
    const plain =
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .replaceAll(/^-|-$/g, '')
        .slice(0, 80) || 'x';
    let slug = plain;
    for (let number = 2; taken.has(slug); number++) slug = `${plain}-${number}`;
    taken.add(slug);
    slugs.set(name, slug);
  }
  return slugs;
}

/** Without the name of the host, which says nothing to readers. */
export const machineText = ({ machine }: Pick<Entry, 'machine'>) => machine.slice(machine.indexOf(', ') + 2);

/** The name of an image, between its registry and its tag. */
const IMAGE = /^(?:[^@]*\/)([^/@:]+)(?::[^/]*)?$/;

/** The title of a server, before its version. */
const TITLE = /^(.*\S) \d[\w.]*$/;

/** `CoreDNS` for `coredns@1.13.1+file`, `coredns/coredns:1.15.0` and `CoreDNS 1.15.0`; a server of the user's own is a kind of its own. */
export function kindOf(server: string): string {
  const name = IMAGE.exec(server)?.[1] ?? TITLE.exec(server)?.[1];
  return serverTitle((name ?? parseServerName(withoutPath(server))?.kind ?? server).trim());
}

function grouped(runs: readonly SiteRun[], namesOf: (run: SiteRun) => readonly string[]): Group[] {
  const named = runs.flatMap((run) => [...new Set(namesOf(run))].map((title) => ({ title, run })));
  const slugs = slugsOf(named.map(({ title }) => title));
  return [...Map.groupBy(named, ({ title }) => title)].map(([title, members]) => ({
    title,
    slug: slugs.get(title) ?? '',
    runs: members.map(({ run }) => run),
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

export function groupsOf(runs: readonly SiteRun[]): Groups {
  return {
    comparisons: [...Map.groupBy(runs, comparisonOf).values()].toSorted(
      ([a], [b]) => Number(a !== undefined && isWeak(a)) - Number(b !== undefined && isWeak(b)),
    ),
    questions: grouped(runs, ({ brief }) => [brief.question]),
    servers: grouped(runs, ({ entry }) => entry.servers.map(kindOf)),
  };
}

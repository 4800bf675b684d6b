/** The file of a series: a line for each run, with what `report.ts` needs of it. */
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Figures } from '../../src/report/estimand.ts';

/** The servers of a run: CoreDNS, the same again, and one with a planted slowdown; NSD, and the same again. */
export type ServerName = 'coredns1' | 'coredns2' | 'slower' | 'nsd1' | 'nsd2';

export function ofServers<T>(of: (server: ServerName) => T): Readonly<Record<ServerName, T>> {
  return {
    ...{ coredns1: of('coredns1'), coredns2: of('coredns2'), slower: of('slower') },
    ...{ nsd1: of('nsd1'), nsd2: of('nsd2') },
  };
}

/** What might explain the scatter of a trial. */
export interface Causes {
  /** CPUs that the hypervisor and other programs took. */
  readonly taken: number;
  /** How long the server's threads waited for a CPU, as a share of the trial. */
  readonly waiting: number;
  /** Median CPU time and median time of the probe's work, in microseconds. */
  readonly probe: number;
  readonly probeTook: number;
}
export type Cause = keyof Causes;

export interface SeriesTrial extends Figures {
  readonly round: number;
  readonly causes: Causes;
}

export interface SeriesRun {
  readonly id: string;
  /** Of the CPUs, what the neighbour took at most. 0: there was none. */
  readonly share: number;
  /** Of a trial. */
  readonly seconds: number;
  readonly trials: Readonly<Record<ServerName, readonly SeriesTrial[]>>;
}

/** Plain, or compressed if its name ends in `.gz`. */
export async function readSeries(path: string): Promise<SeriesRun[]> {
  const bytes = await readFile(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line): SeriesRun => ({ seconds: 1, ...JSON.parse(line) }));
}

/** The programs that run beside CoreDNS, as files: in a pod, or in a directory of this machine. */
import type { CorefileOptions } from '@dinodns-bench/cluster-objects';
import { ownText } from '../../../own-files.ts';
import type { Phase } from './phases.ts';

const FILES = [
  'common.mjs',
  'main.mjs',
  'relay.mjs',
  'memory.mjs',
  'asker.mjs',
  'propagation.mjs',
  'services.mjs',
  'churn.mjs',
  'changes.mjs',
  'poller.mjs',
] as const;

/** The one that watches CPU and memory beside a load generator, with its parts. */
export const WATCH_FILES = ['watch.mjs', 'memory.mjs'] as const;

/** The entry point, on this machine, of the one that watches memory. */
export const PROGRAM_ENTRY = new URL('program/main.mjs', import.meta.url);

/** Files by name, by default those of every program beside a private CoreDNS. */
export function programFiles(names: readonly string[] = FILES): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [name, ownText(new URL(`program/${name}`, import.meta.url))]),
  );
}

/** What the program that watches memory does, here and in a pod. */
export interface Measuring {
  readonly corefile: Pick<CorefileOptions, 'pods'>;
  readonly phases: readonly Phase[];
  /** Of `rest` and `load`. */
  readonly seconds: number;
  readonly queriesPerSecond: number;
}

export const measuringEnvironment = ({ corefile, phases, seconds, queriesPerSecond }: Measuring) => ({
  PHASES: phases.join(','),
  SECONDS: String(seconds),
  QUERIES_PER_SECOND: String(queriesPerSecond),
  // Then only pods that exist have a name.
  PODS_VERIFIED: String(corefile.pods === 'verified'),
});

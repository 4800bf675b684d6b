/** Every experiment, in the order of `bench --help`. To add one, add a folder and an entry here. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '@dinodns-bench/program';
import type { FormatFacts, OpenedRecord, Records } from '../engine/records.ts';
import type { AddCommands, Experiment, ListedCommand } from '../engine/registered.ts';
import { BenchError } from '../errors.ts';
import type { Publication } from '../history/reproduce/publication.ts';
import { findFormat } from '../report/renderer.ts';
import type { FoundRun } from '../results/store.ts';
import type { World } from '../world.ts';

/** An experiment of ours. Its commands and its records are loaded when they are used. */
interface OwnExperiment {
  /** Also of its records, unless `kinds` has their names. */
  readonly name: string;
  readonly kinds?: readonly string[];
  /** Descriptions of its commands, by usage as in `ListedCommand`. */
  readonly commands: Readonly<Record<string, string>>;
  readonly load: ListedCommand['load'];
  readonly records: () => Promise<Experiment['records']>;
  /** Default: none. */
  readonly publications?: () => Promise<readonly Publication[]>;
}

const OWN: readonly OwnExperiment[] = [
  {
    name: 'compare',
    commands: {
      'run [options]': 'measure servers and write the comparison (the default command)',
      'matrix [options]': 'the published matrix: run with tiers 1, 2, 4 in both modes',
      'images [options]': 'list the container images that a run on a cluster uses',
      'manifests [options]': 'print the objects of a run on a cluster as YAML, for kubectl apply',
    },
    load: async () => (await import('./compare/commands.ts')).addCompareCommands,
    records: async () => (await import('./compare/records.ts')).compareRecords,
    publications: async () => (await import('./compare/publications.ts')).comparePublications,
  },
  {
    name: 'loss',
    commands: {
      'loss [options]':
        'the highest rates at which servers lose 0, 0.1, 1 and 5 % of queries, and what they do beyond',
    },
    load: async () => (await import('./loss/index.ts')).loss.addCommands,
    records: async () => (await import('./loss/index.ts')).loss.records,
  },
  {
    name: 'disrupt',
    commands: {
      'disrupt [options]': 'what clients lose when a server fails or is replaced, or when its upstream fails',
    },
    load: async () => (await import('./disrupt/index.ts')).disrupt.addCommands,
    records: async () => (await import('./disrupt/index.ts')).disrupt.records,
  },
  {
    name: 'capacity',
    kinds: [
      'capacity-memory',
      'capacity-survive',
      'capacity-throughput',
      'capacity-caching',
      'capacity-propagation',
      'capacity-plan',
    ],
    commands: { capacity: 'how much memory and how many replicas the DNS of a cluster needs' },
    load: async () => (await import('./capacity/commands.ts')).addCapacityCommands,
    records: async () => (await import('./capacity/records.ts')).capacityRecords,
    publications: async () => (await import('./capacity/publications.ts')).capacityPublications,
  },
  {
    name: 'swap',
    commands: {
      'swap [options]':
        "does another version of CoreDNS cost more in this cluster? Leaves the cluster's DNS alone unless you use --method in-place",
    },
    load: async () => (await import('./swap/index.ts')).swap.addCommands,
    records: async () => (await import('./swap/index.ts')).swap.records,
    publications: async () => (await import('./swap/publications.ts')).swapPublications,
  },
  {
    name: 'lookup',
    commands: {
      'lookup [options]': 'how long a client waits for a name and a connection, each sample a new process',
    },
    load: async () => (await import('./lookup/index.ts')).lookup.addCommands,
    records: async () => (await import('./lookup/index.ts')).lookup.records,
    publications: async () => (await import('./lookup/publications.ts')).lookupPublications,
  },
];

/** Those of users, by the file they come from. */
const loaded = new Map<string, Experiment>();

/** The commands of our experiments. */
export const EXPERIMENT_COMMANDS: readonly ListedCommand[] = OWN.flatMap(({ commands, load }) =>
  Object.entries(commands).map(([usage, description]) => ({
    usage,
    description,
    load,
  })),
);

const recordsLoaded = () => [...loaded.values()].map(({ records }) => records);

/** What adds the commands of users' experiments. */
export function loadedCommands(): AddCommands[] {
  return [...loaded.values()].map(({ addCommands }) => addCommands);
}

/** Every kind of record, each loaded when it is its turn. */
async function* everyRecords(): AsyncGenerator<Records> {
  for (const { records } of OWN) yield* [(await records()) ?? []].flat();
  for (const records of recordsLoaded()) yield* [records ?? []].flat();
}

/** Every kind of record. */
export async function allRecords(): Promise<readonly Records[]> {
  const all: Records[] = [];
  for await (const records of everyRecords()) all.push(records);
  return all;
}

/** What `--format` takes by this name or alias: of the first experiment that has it, which loads no other. */
export async function formatNamed(name: string): Promise<FormatFacts | undefined> {
  for await (const { formats } of everyRecords()) {
    const found = findFormat(name, formats);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What `--format` takes: the formats of all experiments, each name once. */
export async function allFormats(): Promise<readonly FormatFacts[]> {
  const formats = (await allRecords()).flatMap((records) => records.formats);
  return [...Map.groupBy(formats, ({ name }) => name).values()].flatMap(([first]) => first ?? []);
}

/** The publication that an experiment declares under this name. */
export async function publicationNamed(name: string): Promise<Publication | undefined> {
  const declared = [
    ...OWN.map(({ publications }) => publications?.() ?? []),
    ...[...loaded.values()].map(({ publications = [] }) => publications),
  ];
  return (await Promise.all(declared)).flat().find((publication) => publication.name === name);
}

function isExperiment(value: unknown): value is Experiment {
  return typeof value === 'object' && value !== null && 'addCommands' in value && 'records' in value;
}

/**
 * Adds the experiment that is the default export of a user's file.
 * @throws BenchError `E_USAGE` for a file that has none, or one of a name that is taken
 */
export async function loadExperiment(world: World, file: string): Promise<void> {
  const path = resolve(world.cwd, file);
  const problem = (what: string, fix: string, cause?: unknown) =>
    new BenchError('E_USAGE', `--experiment ${file}: ${what}`, { fix, cause });
  const module: { readonly default?: unknown } = await import(pathToFileURL(path).href).catch((cause) => {
    throw problem(
      `it cannot be loaded: ${messageOf(cause).split('\n')[0]}`,
      'Correct the file or its path.',
      cause,
    );
  });
  const found = module.default;
  if (!isExperiment(found)) {
    throw problem(
      'its default export is no experiment',
      'Export what defineExperiment of @dinodns-bench/bench-cli/engine returns: export default defineExperiment({ … }).',
    );
  }
  const taken = [...OWN, ...[...loaded].flatMap(([other, each]) => (other === path ? [] : [each]))];
  if (taken.some(({ name }) => name === found.name))
    throw problem(`there is an experiment "${found.name}" already`, 'Give it another name.');
  loaded.set(path, found);
}

/** What is kept of the runs of an experiment; undefined for one that this version does not know. */
export async function findRecords(experiment: string): Promise<Records | undefined> {
  const own = OWN.find(({ name, kinds = [name] }) => kinds.includes(experiment));
  const known = own === undefined ? recordsLoaded() : [await own.records()];
  return known.flatMap((records) => records ?? []).find(({ kind }) => kind.experiment === experiment);
}

export async function unknownExperiment({
  experiment,
  directory,
}: Pick<FoundRun, 'experiment' | 'directory'>): Promise<BenchError> {
  const names = (await allRecords()).map(({ kind }) => kind.experiment);
  const problem = `${directory} is a run of the experiment "${experiment}", which this version does not know`;
  return new BenchError('E_RECORD_VERSION', problem, {
    fix: `This version of bench knows ${names.join(', ')}. Use the version that wrote it, or name the file of your own experiment: bench --experiment FILE …`,
  });
}

/**
 * The kind of record that this is.
 * @throws BenchError `E_RECORD_VERSION` for an experiment that this version does not know.
 */
export async function recordsFor(run: Pick<FoundRun, 'experiment' | 'directory'>): Promise<Records> {
  const found = await findRecords(run.experiment);
  if (found === undefined) throw await unknownExperiment(run);
  return found;
}

/** Reads a run of any experiment. Rejects as `recordsFor` and the record's parser do. */
export async function openRun(run: FoundRun): Promise<OpenedRecord> {
  return (await recordsFor(run)).open(run);
}

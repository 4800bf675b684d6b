/** `bench reproduce`: published ratios beside those of a run. */
import { BenchError } from '../errors.ts';
import { CAPACITY_PUBLICATIONS } from '../experiments/capacity/reproduce/publications.ts';
import type { Entry } from '../history/entry.ts';
import type { RunRow } from '../history/listing.ts';
import { findPublication, publishedRecord } from '../history/published.ts';
import { mappingOf } from '../history/reproduce/mappings.ts';
import { type Reproduction, reproduce } from '../history/reproduce/procedure.ts';
import type { RunIndex } from '../history/resolve.ts';
import { parseReference } from '../history/select.ts';
import { renderReproduction, reproductionMarkdown } from '../history/text/render-reproduction.ts';
import type { World } from '../world.ts';
import { DEFAULT_COLUMNS, knownRuns, paintFor, printJson, selectRun } from './history-options.ts';
import { reproduceCapacity } from './reproduce-capacity.ts';
import { reproduceLookup } from './reproduce-lookup.ts';

export interface ReproduceOptions {
  readonly publication: string;
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

const FORMATS = ['text', 'markdown', 'md', 'json'];

function nothingInCommon(
  { publication, run, cells }: Reproduction,
  keys: readonly string[],
  example: string,
): BenchError {
  const rows = [
    ...new Set(cells.map(({ title, tier }) => (tier === null ? title : `${title} at ${tier} vCPU`))),
  ];
  return new BenchError('E_USAGE', `run ${run} has none of the cases of publication "${publication.name}"`, {
    fix: `Measure them, for example: ${example}.`,
    evidence: [
      `published: ${rows.slice(0, 8).join(', ')}`,
      ...keys.slice(0, 6).map((key) => `in the run: ${key}`),
    ],
  });
}

const DUET_NOTE =
  'Ours is a duet: all servers of a round were up, and the load stayed with each for a moment only. The published trials had one server at a time; --duet off measures like that.';

/** The run with its cases, of whichever experiment; what that says of its result is a note. */
async function runFor(
  world: World,
  known: RunIndex,
  reference: string,
  experiments: readonly string[],
): Promise<{ entry: Entry; notes: string[] }> {
  const { run } = parseReference(reference);
  const first = experiments.find((name) =>
    known.runs.some(({ kind, experiment }) => kind === 'run' && experiment === name),
  );
  const wanted = run === 'latest' && first !== undefined ? [first] : experiments;
  const isWanted = ({ experiment }: RunRow) => wanted.includes(experiment);
  const { entry, cases } = await selectRun(world, known, reference, { isWanted });
  const notes = [
    ...(entry.summary === null ? [] : [`Ours: ${entry.summary}.`]),
    ...(entry.isDuet === true ? [DUET_NOTE] : []),
  ];
  return { entry: { ...entry, cases }, notes };
}

/** Prints the comparison; every verdict is a result, so the status is 0. */
export async function reproduceCommand(world: World, options: ReproduceOptions): Promise<number> {
  const name = findPublication(options.publication);
  if (!FORMATS.includes(options.format)) {
    throw new BenchError('E_USAGE', `--format: "${options.format}" must be one of text, markdown, json`, {
      fix: 'Omit it for a table.',
    });
  }
  // Its figures are no cases of a comparison.
  if (name === 'lookup') return reproduceLookup(world, options);
  const capacity = CAPACITY_PUBLICATIONS.find((publication) => publication === name);
  if (capacity !== undefined) return reproduceCapacity(world, { ...options, publication: capacity });
  const { mapping, experiments, example } = mappingOf(name);
  const known = await knownRuns(world, options.out);
  const { entry, notes } = await runFor(world, known, options.run, experiments);
  const { cases } = entry;
  const found = reproduce(publishedRecord(name), entry, mapping);
  const result = { ...found, notes: [...notes, ...found.notes] };
  if (result.cells.every(({ verdict }) => verdict === 'not measured')) {
    throw nothingInCommon(
      result,
      cases.map(({ key }) => key),
      example,
    );
  }
  if (options.format === 'json') printJson(world, result);
  else if (options.format === 'text') {
    const columns = world.stdout.columns ?? DEFAULT_COLUMNS;
    world.stdout.write(renderReproduction(result, columns, paintFor(world)));
  } else world.stdout.write(reproductionMarkdown(result));
  return 0;
}

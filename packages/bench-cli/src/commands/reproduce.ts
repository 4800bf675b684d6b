/** `bench reproduce`: published ratios beside those of a run. */
import { BenchError } from '../errors.ts';
import { findPublication, publishedRecord } from '../history/published.ts';
import { mappingOf } from '../history/reproduce/mappings.ts';
import { type Reproduction, reproduce } from '../history/reproduce/procedure.ts';
import { renderReproduction, reproductionMarkdown } from '../history/text/render-reproduction.ts';
import type { World } from '../world.ts';
import { DEFAULT_COLUMNS, knownRuns, paintFor, printJson, selectRun } from './history-options.ts';
import { reproduceLookup } from './reproduce-lookup.ts';

export interface ReproduceOptions {
  readonly publication: string;
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

const FORMATS = ['text', 'markdown', 'md', 'json'];

function nothingInCommon({ publication, run, cells }: Reproduction, keys: readonly string[]): BenchError {
  const rows = [...new Set(cells.map(({ title, tier }) => `${title} at ${tier ?? 'any'} vCPU`))];
  return new BenchError('E_USAGE', `run ${run} has none of the cases of publication "${publication.name}"`, {
    fix: 'Measure them, for example: bench matrix --servers coredns,dinodns-stock --baseline coredns.',
    evidence: [
      `published: ${rows.slice(0, 8).join(', ')}`,
      ...keys.slice(0, 6).map((key) => `in the run: ${key}`),
    ],
  });
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
  const mapping = mappingOf(name);
  const known = await knownRuns(world, options.out);
  const { entry, cases } = await selectRun(world, known, options.run);
  const result = reproduce(publishedRecord(name), { ...entry, cases }, mapping);
  if (result.cells.every(({ verdict }) => verdict === 'not measured')) {
    throw nothingInCommon(
      result,
      cases.map(({ key }) => key),
    );
  }
  if (options.format === 'json') printJson(world, result);
  else if (options.format === 'text') {
    const columns = world.stdout.columns ?? DEFAULT_COLUMNS;
    world.stdout.write(renderReproduction(result, columns, paintFor(world)));
  } else world.stdout.write(reproductionMarkdown(result));
  return 0;
}

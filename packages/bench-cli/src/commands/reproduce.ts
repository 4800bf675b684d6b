/** `bench reproduce`: what was published beside a run, as the experiment that declares the publication has it. */
import { renderOptions } from '../engine/write-reports.ts';
import { BenchError } from '../errors.ts';
import { publicationNamed } from '../experiments/registry.ts';
import { findPublication } from '../history/published.ts';
import { documentMarkdown } from '../report/document/markdown.ts';
import { documentText } from '../report/document/terminal.ts';
import type { World } from '../world.ts';
import { knownRuns, printJson, selectRun } from './history-options.ts';

export interface ReproduceOptions {
  readonly publication: string;
  readonly run: string;
  readonly out: string;
  readonly format: string;
}

const FORMATS = ['text', 'markdown', 'md', 'json'];

/** Prints both; every verdict is a result, so the status is 0. */
export async function reproduceCommand(world: World, options: ReproduceOptions): Promise<number> {
  const { run, out, format } = options;
  const name = options.publication;
  const publication = (await publicationNamed(name)) ?? (await publicationNamed(findPublication(name)));
  if (!FORMATS.includes(format)) {
    throw new BenchError('E_USAGE', `--format: "${format}" must be one of text, markdown, json`, {
      fix: 'Omit it for a table.',
    });
  }
  if (publication === undefined)
    throw new BenchError('E_INTERNAL', `no experiment declares "${name}"`, { fix: 'Report this bug.' });
  const known = await knownRuns(world, out);
  const { document, json } = await publication.reproduce({
    ...{ world, known, run },
    select: (wanted) => selectRun(world, known, run, wanted),
  });
  if (format === 'json') printJson(world, json);
  else if (format === 'text') world.stdout.write(documentText(document, renderOptions(world, 'relative')));
  else world.stdout.write(documentMarkdown(document));
  return 0;
}

/** `bench reproduce`: what was published beside a run, as the experiment that declares the publication has it. */
import { internalError } from '../errors.ts';
import { publicationNamed } from '../experiments/registry.ts';
import { findPublication } from '../history/published.ts';
import type { World } from '../world.ts';
import { answering, knownRuns, type QuestionOptions, selectRun } from './history-options.ts';

export interface ReproduceOptions extends QuestionOptions {
  readonly publication: string;
  readonly run: string;
}

/** Prints both; every verdict is a result, so the status is 0. */
export async function reproduceCommand(world: World, options: ReproduceOptions): Promise<number> {
  const { run, out } = options;
  const answer = answering(world, options.format);
  const name = options.publication;
  const publication = (await publicationNamed(name)) ?? (await publicationNamed(findPublication(name)));
  if (publication === undefined) throw internalError(`no experiment declares "${name}"`);
  const known = await knownRuns(world, out);
  const { document, json } = await publication.reproduce({
    ...{ world, known, run },
    select: (wanted) => selectRun(world, known, run, wanted),
  });
  answer(json, document);
  return 0;
}

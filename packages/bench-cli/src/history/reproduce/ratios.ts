/** Publications whose rows are cases: each ratio of two rows beside that of two cases of a run. */
import { BenchError } from '../../errors.ts';
import { asSentence } from '../../text.ts';
import type { RunRow } from '../listing.ts';
import { type PublicationName, publishedRecord } from '../published.ts';
import { parseReference } from '../select.ts';
import { reproductionDocument } from './document.ts';
import { type Mapping, type Reproduction, reproduce } from './procedure.ts';
import { missingRun, type Publication, type ReproduceRequest } from './publication.ts';

export interface RatioPublication {
  readonly name: PublicationName;
  readonly mapping: Mapping;
  /** Experiments whose runs have such cases: `latest` is the newest run of the first that has any. */
  readonly experiments: readonly string[];
  /** In words, the commands that make such runs. */
  readonly commands: string;
  /** A command that measures them. */
  readonly example: string;
}

const DUET_NOTE =
  'Ours is a duet: all servers of a round were up, and the load stayed with each for a moment only. The published trials had one server at a time; --duet off measures like that.';

/** The run with its cases, of whichever experiment; what that says of its result is a note. */
async function runFor(
  { known, run: reference, select }: ReproduceRequest,
  { experiments, commands, example }: RatioPublication,
) {
  const isLatest = parseReference(reference).run === 'latest';
  const first = experiments.find((name) =>
    known.runs.some(
      ({ kind, experiment, cases }) => kind === 'run' && experiment === name && cases.length > 0,
    ),
  );
  if (isLatest && first === undefined) throw missingRun(known, commands, example);
  const wanted = isLatest && first !== undefined ? [first] : experiments;
  const { entry, cases } = await select({
    isWanted: ({ experiment }: RunRow) => wanted.includes(experiment),
  });
  const notes = [
    ...(entry.summary === null ? [] : [asSentence(`Ours: ${entry.summary}`)]),
    ...(entry.isDuet === true ? [DUET_NOTE] : []),
  ];
  return { entry: { ...entry, cases }, notes };
}

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

export function ratioPublication(publication: RatioPublication): Publication {
  const { name, mapping, example } = publication;
  return {
    name,
    async reproduce(request) {
      const { entry, notes } = await runFor(request, publication);
      const found = reproduce(publishedRecord(name), entry, mapping);
      const result = { ...found, notes: [...notes, ...found.notes] };
      if (result.cells.every(({ verdict }) => verdict === 'not measured')) {
        const keys = entry.cases.map(({ key }) => key);
        throw nothingInCommon(result, keys, example);
      }
      return { document: reproductionDocument(result), json: result };
    },
  };
}

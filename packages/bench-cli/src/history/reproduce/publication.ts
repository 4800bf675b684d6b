/** What an experiment declares of a published result that stands beside its runs: `bench reproduce NAME`. */
import { BenchError } from '../../errors.ts';
import type { ReportDocument } from '../../report/document/index.ts';
import type { World } from '../../world.ts';
import type { RunIndex, Wanted } from '../resolve.ts';
import type { Selected } from '../select.ts';

export interface ReproduceRequest {
  readonly world: World;
  readonly known: RunIndex;
  /** As typed: a run, its cases (`RUN:tier=1`), several with a plus between them, or `latest`. */
  readonly run: string;
  /** Its cases. `wanted` is what `latest`, a branch and a commit may mean. Rejects with a BenchError where there is none. */
  select(wanted: Wanted): Promise<Selected>;
}

export interface Reproduced {
  /** Published and measured, with the verdicts of `verdictOn`. */
  readonly document: ReportDocument;
  /** The same with nothing rounded, for `--json`. */
  readonly json: unknown;
}

export interface Publication {
  /** As in `bench reproduce NAME`. Those that ship with bench have their figures in `published/NAME.json`. */
  readonly name: string;
  /** Every verdict is a result. Rejects with a BenchError where a run has nothing in common with it. */
  reproduce(request: ReproduceRequest): Promise<Reproduced>;
}

/** That nothing of `commands`, such as `bench lookup`, is known; `example` would measure it. */
export function missingRun({ resultsDirectory }: RunIndex, commands: string, example: string): BenchError {
  return new BenchError('E_RECORD_UNREADABLE', `there is no run of ${commands} in ${resultsDirectory}`, {
    fix: `Make one, for example: ${example}.`,
  });
}

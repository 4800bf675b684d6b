/** The list of runs as text for a terminal. Pure. */
import type { Ansis } from 'ansis';
import { compareKind } from '../../results/compare-kind.ts';
import { columnsOf, counted } from '../../text.ts';
import type { RunRow } from '../listing.ts';
import { formatTimestamp } from './words.ts';

type Paint = InstanceType<typeof Ansis>;

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** `8 trials, 1 failed`; of other experiments, their name: what a trial is there, only they know. */
function trialsText({ experiment, okTrials, failedTrials }: RunRow): string {
  if (experiment !== compareKind.experiment) return experiment;
  const failed = failedTrials === 0 ? '' : `, ${failedTrials} failed`;
  return `${okTrials} ${okTrials === 1 ? 'trial' : 'trials'}${failed}`;
}

/**
 * Two lines per run: ID, time, state, trials and names; then commit and servers, or where there is one the summary of
 * its experiment.
 */
export function renderRuns(
  runs: readonly RunRow[],
  tagsOf: (id: string) => readonly string[],
  columns: number,
  paint: Paint,
): string {
  const rows = runs.map((run) => {
    const names = tagsOf(run.id);
    return [
      run.id,
      formatTimestamp(run.startedAt),
      run.status,
      trialsText(run),
      names.length === 0 ? '' : `(${names.join(', ')})`,
    ];
  });
  const lines = columnsOf(rows, 2, [0, 1, 2, 3, 4]);
  return runs
    .flatMap((run, index) => {
      const commit =
        run.commit === null
          ? []
          : [`${run.branch ?? 'detached'}@${run.commit.slice(0, 8)}${run.dirty ? ' (changed)' : ''}`];
      const servers = run.servers.length === 0 ? 'unknown servers' : run.servers.join(', ');
      const cases = counted(run.cases.length, 'case');
      const { summary } = run;
      const detail = [...(summary === null ? [servers, cases] : [summary]), ...commit].join(' · ');
      return [cut(lines[index] ?? '', columns), paint.dim(cut(`  ${detail}`, columns))];
    })
    .concat('')
    .join('\n');
}

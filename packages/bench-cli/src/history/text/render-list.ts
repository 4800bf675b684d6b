/** The list of runs as text for a terminal. Pure. */
import type { Ansis } from 'ansis';
import type { RunRow } from '../database.ts';
import { columnsOf, formatTimestamp } from './words.ts';

type Paint = InstanceType<typeof Ansis>;

function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Two lines per run: ID, time, state, trials and names; then commit and servers. */
export function renderRuns(
  runs: readonly RunRow[],
  tagsOf: (id: string) => readonly string[],
  columns: number,
  paint: Paint,
): string {
  const rows = runs.map((run) => {
    const failed = run.failedTrials === 0 ? '' : `, ${run.failedTrials} failed`;
    const names = tagsOf(run.id);
    return [
      run.id,
      formatTimestamp(run.startedAt),
      run.status,
      `${run.okTrials} ${run.okTrials === 1 ? 'trial' : 'trials'}${failed}`,
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
      const detail = [servers, `${run.cases} ${run.cases === 1 ? 'case' : 'cases'}`, ...commit].join(' · ');
      return [cut(lines[index] ?? '', columns), paint.dim(cut(`  ${detail}`, columns))];
    })
    .concat('')
    .join('\n');
}

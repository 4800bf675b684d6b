/** The list of runs as a document. Pure. */
import { answer, type ReportDocument, table } from '../../report/document/document.ts';
import { compareKind } from '../../results/compare-kind.ts';
import { counted, formatTimestamp } from '../../text.ts';
import type { RunRow } from '../listing.ts';

/** `8 trials, 1 failed`; of other experiments, their name: what a trial is there, only they know. */
function trialsText({ experiment, okTrials, failedTrials }: RunRow): string {
  if (experiment !== compareKind.experiment) return experiment;
  return `${counted(okTrials, 'trial')}${failedTrials === 0 ? '' : `, ${failedTrials} failed`}`;
}

/** Its servers and cases, or where there is one the summary of its experiment; then the commit. */
function detailOf({ servers, cases, summary, commit, branch, dirty }: RunRow): string {
  const names = servers.length === 0 ? 'unknown servers' : servers.join(', ');
  const git =
    commit === null ? [] : [`${branch ?? 'detached'}@${commit.slice(0, 8)}${dirty ? ' (changed)' : ''}`];
  return [
    ...(summary === null ? [names, counted(cases.length, 'case')] : [summary.replace(/\.$/, '')]),
    ...git,
  ].join(' · ');
}

/** `older`: how many more there are. */
export function listDocument(
  runs: readonly RunRow[],
  tagsOf: (id: string) => readonly string[],
  older: number,
): ReportDocument {
  return answer({
    kind: 'History',
    title: `${counted(runs.length, 'run')}, the newest first`,
    headline: older === 0 ? '' : `${counted(older, 'older run')}: --limit ${runs.length + older}`,
    sections: [
      {
        title: '',
        blocks: [
          table(
            'Runs',
            ['run', 'state', 'result'],
            runs.map((run) => [
              { text: run.id, below: [formatTimestamp(run.startedAt), ...tagsOf(run.id)].join(', ') },
              { text: run.status, below: trialsText(run) },
              detailOf(run),
            ]),
          ),
        ],
      },
    ],
  });
}

/** The run as a comment on a pull request: verdicts, one table, the rest collapsed. */

import type { CaseRecord, RunRecord } from '../results/record.ts';
import { NOT_COMPARED, shownOf } from '../stats/decisive.ts';
import type { DeltaDefinition } from '../stats/deltas.ts';
import { explainCaseMarks, groupCases, marksOf, serverTitle } from './cases.ts';
import { NOTHING, toneOf } from './compare/cells.ts';
import { deltaLine, deltaTexts, endsOfAll } from './delta-texts.ts';
import { environmentFacts, repeatCommands } from './facts.ts';
import { findings } from './findings.ts';
import { blocks, bullets, codeBlock, factTable, folded, plain, table, unaddressed } from './markdown-text.ts';
import { warningsDuring } from './neighbours.ts';
import { formatBytes, formatQps, formatTime } from './numbers.ts';
import type { RenderOptions } from './renderer.ts';
import { runStatus } from './status.ts';
import { verdictSentences } from './verdict-sentence.ts';

/** GitHub takes comments of 65,536 characters; beyond these numbers the report has the rest. */
const MAX_SENTENCES = 12;
const MAX_ROWS = 60;

const NOTES = {
  intervals: '95 % intervals of the difference in brackets.',
  pairs: 'of two pairs, both differences.',
  either: '95 % intervals of the difference in brackets; of two pairs, both differences.',
} as const;
const ICONS = { good: '🟢', bad: '🔴', even: '⚪' } as const;

function deltaText(record: RunRecord, item: CaseRecord, definition: DeltaDefinition): string {
  const shown = shownOf(item, record, 'qps');
  if (shown === null) return NOTHING;
  const { delta, verdict, isAtLeast } = shown;
  const icon = ICONS[toneOf(verdict)];
  if (verdict === NOT_COMPARED) return `${icon} ${verdict}`;
  const line = deltaLine(deltaTexts(record, item, 'qps', shown, definition), ' (one trial)');
  return `${delta.low === null ? '' : `${icon} `}${isAtLeast ? 'at least ' : ''}${line}`;
}

function row(record: RunRecord, title: string, item: CaseRecord, definition: DeltaDefinition): string[] {
  const { summary } = item;
  const cells =
    summary === null
      ? ['no result', NOTHING, NOTHING, NOTHING, NOTHING]
      : [
          formatQps(summary.qps.median) + marksOf(item),
          deltaText(record, item, definition),
          summary.latencySeconds === null ? NOTHING : formatTime(summary.latencySeconds.median),
          summary.cpuSecondsPerQuery === null ? NOTHING : formatTime(summary.cpuSecondsPerQuery.median),
          summary.memoryBytes === null ? NOTHING : formatBytes(summary.memoryBytes.median),
        ];
  return [plain(title), plain(serverTitle(record, item.server)), ...cells];
}

export function renderGithub(record: RunRecord, options: RenderOptions): string {
  const groups = groupCases(record);
  const sentences = verdictSentences(record).map(
    ({ group, sentence }) => `${groups.length > 1 ? `${group}: ` : ''}${sentence}`,
  );
  const rows = groups.flatMap(({ title, cases }) =>
    cases.map((item) => row(record, title, item, options.delta)),
  );
  const more = (count: number, most: number) =>
    count > most ? `… and ${count - most} more, in the report.` : '';
  const baseline = serverTitle(record, record.baseline);
  const notes = [...new Set([...explainCaseMarks(record), ...findings(record), ...warningsDuring(record)])];
  const text = blocks(
    `### DNS benchmark: ${plain([...new Set(record.cases.map(({ server }) => serverTitle(record, server)))].join(', '))}`,
    plain(runStatus(record).headline),
    bullets(sentences.slice(0, MAX_SENTENCES).map(plain)),
    more(sentences.length, MAX_SENTENCES),
    table(
      ['', 'Server', 'QPS', `vs ${plain(baseline)}`, 'Latency', 'CPU/query', 'Memory'],
      rows.slice(0, MAX_ROWS),
      [1],
    ),
    more(rows.length, MAX_ROWS),
    `Medians; ${NOTES[endsOfAll(record, record.cases, () => 'qps')]} 🟢 🔴 only where a difference was shown.`,
    notes.length === 0 ? '' : folded(`Notes (${notes.length})`, bullets(notes.slice(0, MAX_ROWS).map(plain))),
    folded(
      'Machine, and how to reproduce the run',
      factTable(
        ['', ''],
        environmentFacts(record).map(([name, value]) => [plain(name), plain(value)]),
      ),
      codeBlock(repeatCommands(record), 'sh'),
    ),
  );
  return `${unaddressed(text)}\n`;
}

/** `report.md`: the whole run for people, from the verdict down to the command that repeats it. */
import type { RunRecord } from '../results/record.ts';
import { groupAcrossModes, groupCases, serverTitle } from './cases.ts';
import { findings } from './findings.ts';
import {
  environment,
  failedTrials,
  howToRead,
  method,
  programs,
  repeat,
  warnings,
} from './markdown-facts.ts';
import { podsSection } from './markdown-pods.ts';
import { groupSection } from './markdown-tables.ts';
import { blocks, bullets, plain } from './markdown-text.ts';
import { publishedTable } from './published-table.ts';
import type { RenderOptions } from './renderer.ts';
import { runStatus } from './status.ts';
import { verdictSentence } from './verdict-sentence.ts';

function verdicts(record: RunRecord): string {
  const groups = groupCases(record);
  const lines = groups.flatMap((group) => {
    const prefix = groups.length > 1 ? `${group.title}: ` : '';
    const told = group.cases.filter(({ server }) => server !== record.baseline || group.cases.length === 1);
    return told.map((item) => plain(prefix + verdictSentence(item, record)));
  });
  return bullets(lines);
}

/** One table for each tier, workload, transport and rate over both modes, as published, if the run has both. */
function acrossModes(record: RunRecord, options: RenderOptions): string {
  const sections = groupAcrossModes(record).flatMap(({ title, cases, baseline }) => {
    const hasBoth = baseline?.mode === 'multi' && cases.some(({ mode }) => mode === 'single');
    if (!hasBoth) return [];
    const tableText = publishedTable(record, { cases, baselineCaseKey: baseline.key, delta: options.delta });
    return [blocks(`### ${plain(title)}`, tableText)];
  });
  if (sections.length === 0) return '';
  return blocks(
    '## Across modes',
    `In the format of the published tables: both modes against ${plain(serverTitle(record, record.baseline))} in \`multi\` ` +
      'mode. These deltas are of medians, without an interval.',
    ...sections,
  );
}

function statisticsFound(record: RunRecord): string {
  const found = findings(record);
  return found.length === 0 ? '' : blocks('## What the statistics found', bullets(found.map(plain)));
}

/** The report as GitHub-flavoured Markdown. */
export function renderMarkdown(record: RunRecord, options: RenderOptions): string {
  const titles = [...new Set(record.cases.map(({ server }) => serverTitle(record, server)))];
  const sections = groupCases(record).map((group) => groupSection(record, group, options.delta));
  const text = blocks(
    `# ${plain(titles.length === 0 ? `Run ${record.id}` : titles.join(', '))}`,
    plain(runStatus(record).headline),
    verdicts(record),
    warnings(record),
    statisticsFound(record),
    ...sections,
    acrossModes(record, options),
    podsSection(record),
    failedTrials(record),
    howToRead(record, options.delta),
    method(record),
    environment(record),
    programs(record),
    repeat(record),
  );
  return `${text}\n`;
}

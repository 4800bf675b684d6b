/** The reports on a comparison: those of every document, and those for other tools. To add one, add a line here. */
import type { RunRecord } from '../results/record.ts';
import { renderBenchstat } from './benchstat.ts';
import { compareDocument } from './compare/document.ts';
import { documentFormats } from './document/index.ts';
import { renderGithub } from './github.ts';
import { renderOpenMetrics } from './openmetrics.ts';
import { renderPerfDash } from './perf-dash.ts';
import type { Format } from './renderer.ts';

export const formats: readonly Format[] = [
  ...documentFormats<RunRecord>(compareDocument),
  {
    name: 'github',
    fileName: 'github.md',
    description: 'short, for a pull request comment',
    render: renderGithub,
  },
  {
    name: 'openmetrics',
    fileName: 'metrics.txt',
    description: 'medians and intervals for Prometheus',
    render: renderOpenMetrics,
  },
  {
    name: 'benchstat',
    fileName: 'benchstat.txt',
    description: 'trials in the format of benchstat',
    render: renderBenchstat,
  },
  {
    name: 'perf-dash',
    fileName: 'perf-dash.json',
    description: 'PerfData of kubernetes/perf-tests',
    render: renderPerfDash,
  },
];

export { PAGE_NAME as HTML_NAME } from './document/index.ts';
export { runStatus } from './status.ts';

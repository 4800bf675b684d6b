/** The record itself, as `--json` prints it. */
import { formatJson } from '../results/json-text.ts';
import type { RunRecord } from '../results/record.ts';

export function renderJson(record: RunRecord): string {
  return formatJson(record);
}

/** Query files in dnsperf's format: one name and type per line. */
import type { Workload } from './workload.ts';
import { lineChunks } from './zone-text.ts';

/** The text in chunks, in constant memory. */
export function renderQueryFile(workload: Workload): Iterable<string> {
  return lineChunks(lines(workload));
}

function* lines(workload: Workload): Generator<string, void, void> {
  for (const { name, type } of workload.queries()) yield `${name} ${type}`;
}

/**
 * Records for a terminal. A server's banner or a file name may contain escape sequences, which would colour, move and
 * erase the text around them, and characters that change the writing direction.
 */
import type { FailedTrial, RunRecord } from '../results/record.ts';

/** Controls (C0, C1, DEL) and format characters (among them the bidirectional ones), but for line feed and tab. */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, '\ufffd');
}

function printableFailure(trial: FailedTrial): FailedTrial {
  const { failure } = trial;
  return {
    ...trial,
    key: printable(trial.key),
    failure: { ...failure, code: printable(failure.code), message: printable(failure.message) },
  };
}

/** The record with every text that the terminal's report shows made printable. */
export function printableRecord(record: RunRecord): RunRecord {
  return {
    ...record,
    id: printable(record.id),
    baseline: printable(record.baseline),
    servers: record.servers.map((server) => ({
      ...server,
      name: printable(server.name),
      kind: printable(server.kind),
      title: printable(server.title),
    })),
    trials: record.trials.map((trial) => {
      if (trial.status === 'failed') return printableFailure(trial);
      const { steadyState } = trial;
      const key = printable(trial.key);
      return steadyState === null
        ? { ...trial, key }
        : { ...trial, key, steadyState: { ...steadyState, reason: printable(steadyState.reason) } };
    }),
    cases: record.cases.map((item) => ({
      ...item,
      server: printable(item.server),
      workload: printable(item.workload),
      outliers: item.outliers.map(printable),
    })),
  };
}

/**
 * flamethrower's metrics file (`flame -o`): lines of JSON. A header begins each run, a line follows every second, and
 * all of them carry the run's id; a file may hold several runs. The last line of a run has its totals.
 */
import {
  asCount,
  asCounts,
  asNumber,
  asObject,
  asText,
  asTimestamp,
  flagValue,
  type Importer,
  inSeconds,
  lostRatioOf,
  type Measurement,
  NOTHING_KNOWN,
  PLACE_UNKNOWN,
  parseJsonLines,
  transportOf,
} from './format.ts';

type Line = Readonly<Record<string, unknown>>;

function measurementOf(header: Line, totals: Line | undefined): Measurement {
  const command = asText(header.cmdline);
  const base = {
    ...PLACE_UNKNOWN,
    workload: command === null ? null : (flagValue(command, '-g') ?? flagValue(command, '-f')),
    transport: transportOf(command, '-P'),
    parameters: { commandLine: command },
  };
  const startedAt = asTimestamp(header.start_timestamp);
  if (totals === undefined) {
    return { ...base, trial: { ...NOTHING_KNOWN, startedAt, failure: 'the run has no line of figures' } };
  }
  const [sent, lost] = [asCount(totals.total_s_count), asCount(totals.total_timeouts)];
  const [received, bad] = [asCount(totals.total_r_count), asCount(totals.total_bad_count) ?? 0];
  return {
    ...base,
    trial: {
      ...NOTHING_KNOWN,
      startedAt,
      durationSeconds: asNumber(totals.runtime_s),
      queriesSent: sent,
      // Replies that could not be read are counted as received.
      queriesCompleted: received === null ? null : Math.max(0, received - bad),
      queriesLost: lost,
      responseCodes: asCounts(totals.total_responses),
      metrics: {
        ...NOTHING_KNOWN.metrics,
        qps: asNumber(totals.total_qps_r_avg),
        latencySeconds: inSeconds(totals.total_response_avg_ms),
        lostRatio: lostRatioOf(sent, lost),
      },
    },
  };
}

export const flamethrowerImporter: Importer = {
  format: 'flamethrower',
  notes: [
    "flamethrower's latency is the mean of per-second means, not of all answers; its throughput is the mean of " +
      'the answers of all seconds that had any.',
  ],
  recognizes: (text) => /^\{[^\n]*"run_id":/.test(text) && /"(cmdline|period_number)":/.test(text),
  parse(text) {
    const lines = parseJsonLines(text).map(asObject);
    const headers = lines.filter((line) => 'cmdline' in line || 'start_timestamp' in line);
    if (headers.length === 0) throw new Error('it has no line with the command and the time of a run');
    const measurements = headers.map((header) => {
      const isTotal = (line: Line) =>
        line.run_id === header.run_id && 'total_s_count' in line && !('trafgen_id' in line);
      return measurementOf(header, lines.findLast(isTotal));
    });
    return { version: asText(headers[0]?.version), environment: {}, measurements, notes: [] };
  },
};

/** dnsperf's output as text, one run or several of them one after the other. */
import { intervalSeconds, parseDnsperf, parseInterval } from '../loaders/dnsperf/parse.ts';
import {
  flagValue,
  type Importer,
  lostRatioOf,
  type Measurement,
  NOTHING_KNOWN,
  PLACE_UNKNOWN,
  transportOf,
} from './format.ts';

const BANNER = /^DNS Performance Testing Tool/;
const COMMAND = /^\[Status\] Command line: (?:\S*\/)?dnsperf\s*(.*)$/;

function sectionsOf(text: string): string[][] {
  const sections: string[][] = [];
  for (const line of text.split(/\r?\n/)) {
    if (BANNER.test(line) || sections.length === 0) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections.filter((lines) => lines.some((line) => BANNER.test(line) || line === 'Statistics:'));
}

function measurementOf(lines: readonly string[]): Measurement {
  const command = lines.map((line) => COMMAND.exec(line)?.[1]).find((found) => found !== undefined) ?? null;
  const { result } = parseDnsperf(lines);
  const interval = lines.map(parseInterval).find((found) => found !== null) ?? null;
  const file = command === null ? null : flagValue(command, '-d');
  const base = {
    ...PLACE_UNKNOWN,
    workload: file?.split('/').at(-1) ?? null,
    transport: transportOf(command, '-m'),
    parameters: { commandLine: command },
  };
  if (result === null) {
    return { ...base, trial: { ...NOTHING_KNOWN, failure: 'dnsperf ended without printing its statistics' } };
  }
  const { queriesSent, queriesCompleted, queriesLost, responseCodes, runTimeSeconds } = result;
  return {
    ...base,
    trial: {
      ...NOTHING_KNOWN,
      // Only -S prints a time with a zone: the end of the first interval.
      startedAt:
        interval === null
          ? null
          : new Date((interval.unixSeconds - intervalSeconds(lines)) * 1000).toISOString(),
      durationSeconds: runTimeSeconds,
      queriesSent,
      queriesCompleted,
      queriesLost,
      responseCodes,
      metrics: {
        ...NOTHING_KNOWN.metrics,
        qps: result.qps,
        latencySeconds: result.latencySeconds?.mean ?? null,
        lostRatio: lostRatioOf(queriesSent, queriesLost),
      },
    },
  };
}

export const dnsperfImporter: Importer = {
  format: 'dnsperf',
  notes: [],
  recognizes: (text) => /^(DNS Performance Testing Tool|\[Status\] Command line: )/m.test(text),
  parse(text) {
    const sections = sectionsOf(text);
    if (sections.length === 0) throw new Error('it contains no dnsperf output');
    const version = parseDnsperf(sections[0] ?? []).version;
    return { version, environment: {}, measurements: sections.map(measurementOf), notes: [] };
  },
};

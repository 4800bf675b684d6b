/** A record of any experiment on the engine as the history sees it: cases with figures by estimand. Pure. */
import { type Entry, type EntryCase, entryOfHeader, environmentOf, machineOf } from '../history/entry.ts';
import { levelOfRecord } from '../stats/until.ts';
import { claimsOf, type EngineCase, type EngineRecord, okTrials } from './record.ts';
import { subjectTitle } from './words.ts';

type AnyRecord = EngineRecord<unknown, unknown>;

function caseOf(record: AnyRecord, item: EngineCase): EntryCase {
  const { key, subject, point, bounds, trials } = item;
  return {
    ...{ key, subject, point },
    title: subjectTitle(record, subject),
    isBaseline: subject === record.baseline,
    bounds: Object.keys(bounds).filter((name) => (bounds[name] ?? 0) > 0),
    foreign: [],
    contended: false,
    trials: okTrials(record, key).map(({ round, taken, figures }) => ({ round, taken, figures })),
    failedTrials: trials.failed,
  };
}

export function engineEntry(record: AnyRecord, summary: string): Entry {
  const { environment, conditions, programs, settings, estimands, experiment } = record;
  // Without its version, and what follows it.
  const generator = conditions['load generator']?.replace(/ v?\d.*$/, '');
  return {
    ...entryOfHeader(record, experiment, summary),
    environment: environmentOf(record, Object.fromEntries(Object.entries(settings ?? {})), [
      ...Object.entries(conditions),
      ...programs.flatMap(({ name, version, components }): [string, string][] => [
        [`server ${name}`, version],
        ...Object.entries(components).map(([part, text]): [string, string] => [
          `server ${name}, ${part}`,
          text,
        ]),
      ]),
    ]),
    machine: machineOf(environment) + (generator === undefined ? '' : `, load from ${generator}`),
    level: levelOfRecord(record.until, settings),
    estimands,
    cases: claimsOf(record).map((item) => caseOf(record, item)),
  };
}

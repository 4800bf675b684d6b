/** Reads a zone file into a file of records, and checks the zone. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Problem } from '@dinodns-bench/program';
import { TYPE } from '@dinodns-bench/wire';
import {
  type CheckedRecord,
  checkZone,
  hashFinding,
  isWithin,
  originFromText,
  readZoneFile,
  type ZoneFinding,
  ZonesError,
  zoneFileName,
} from '@dinodns-bench/zones';
import { copyOf, type RecordPlace, RecordsWriter, readRecords } from './records-file.ts';
import { specialRecords } from './special-records.ts';
import { originOfFile, type ZoneFileOption } from './zone-file-option.ts';

/** Records between two turns of the event loop, which answers queries: about two milliseconds. */
const YIELD_EVERY = 500;
/** In larger zones, only records that can cause an error are checked. */
const MAX_CHECKED_WHOLE = 2000;

/** Where a record is in its zone file. */
interface Place {
  readonly file: string;
  readonly line: number;
}

/**
 * Writes the records of a zone file to `path`, checks the zone, and returns its name. Rejects with a `ZonesError`.
 */
export async function readInto(path: string, { file, origin }: ZoneFileOption): Promise<string> {
  const start = origin ?? originOfFile(file) ?? '.';
  const records = readZoneFile(file, { origin: start });
  const writer = new RecordsWriter(path);
  // Not the records themselves: objects that are kept while a file is read make the heap's young generation grow by 100 MB.
  let places: Place[] | undefined = [];
  let zone = origin === undefined ? undefined : originFromText(origin);
  // Special by what it says, not by its name.
  let hash: ZoneFinding | undefined;
  let count = 0;
  try {
    for (const record of records) {
      if (record.type === TYPE.SOA) zone ??= Buffer.from(record.name);
      hash ??= hashFinding(record);
      if (zone === undefined || isWithin(record.name, zone)) {
        writer.add(record);
        places?.push({ file: record.file, line: record.line });
      }
      if (++count > MAX_CHECKED_WHOLE) places = undefined;
      if (count % YIELD_EVERY === 0) await nextTurn();
    }
  } finally {
    writer.close();
  }
  if (zone === undefined) {
    const problem = `${file}: there is no SOA record`;
    throw new ZonesError('E_ZONE_FILE', problem, [{ problem, fix: 'add "@ SOA …" (RFC 1035, section 5.2)' }]);
  }
  const checked =
    places === undefined
      ? await specialRecords(path, zone, YIELD_EVERY, nextTurn)
      : await placedRecords(path, places);
  const { findings } = checkZone(zone, checked);
  const wrong = findings.filter(({ severity }) => severity === 'error');
  // With its place, which special records do not have.
  const errors = hash === undefined ? wrong : [...wrong.filter(({ rule }) => rule !== hash.rule), hash];
  if (errors.length > 0)
    throw new ZonesError('E_ZONE_FILE', `the zone in ${file}`, errors.map(withFile(file)));
  return zoneFileName(zone).toLowerCase();
}

/** All records of a file of records, with their places. */
async function placedRecords(path: string, places: readonly Place[]): Promise<CheckedRecord[]> {
  const records: CheckedRecord[] = [];
  const add = (bytes: Buffer, at: RecordPlace) => {
    records.push({ ...copyOf(bytes, at), ...places[records.length] });
    return true;
  };
  await readRecords(path, add, YIELD_EVERY, nextTurn);
  return records;
}

/** A finding without a record, or of a large zone, does not name the file. */
function withFile(file: string): (finding: ZoneFinding) => Problem {
  return ({ problem, fix, record }) => ({
    problem: record?.file === undefined ? `${file}: ${problem}` : problem,
    fix,
  });
}

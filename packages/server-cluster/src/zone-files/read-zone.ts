/** Reads a zone file into a file of records, and checks the zone. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Problem } from '@dinodns-bench/program';
import { TYPE } from '@dinodns-bench/wire';
import {
  checkZone,
  isWithin,
  originFromText,
  readZoneFile,
  type ZoneFinding,
  type ZoneRecord,
  ZonesError,
  zoneFileName,
} from '@dinodns-bench/zones';
import { RecordsWriter } from './records-file.ts';
import { specialRecords } from './special-records.ts';
import { originOfFile, type ZoneFileOption } from './zone-file-option.ts';

/** Records between two turns of the event loop, which answers queries: about two milliseconds. */
const YIELD_EVERY = 500;
/**
 * In larger zones, only records that can cause an error are checked. Ten times as many objects, kept from the start of a
 * zone, make the young generation of the heap grow by 100 MB.
 */
const MAX_CHECKED_WHOLE = 2000;

/**
 * Writes the records of a zone file to `path`, checks the zone, and returns its name. Rejects with a `ZonesError`.
 */
export async function readInto(path: string, { file, origin }: ZoneFileOption): Promise<string> {
  const start = origin ?? originOfFile(file) ?? '.';
  const records = readZoneFile(file, { origin: start });
  const writer = new RecordsWriter(path);
  let checked: ZoneRecord[] | undefined = [];
  let zone = origin === undefined ? undefined : originFromText(origin);
  let count = 0;
  try {
    for (const record of records) {
      if (record.type === TYPE.SOA) zone ??= Buffer.from(record.name);
      if (zone === undefined || isWithin(record.name, zone)) writer.add(record);
      if (++count > MAX_CHECKED_WHOLE) checked = undefined;
      checked?.push(record);
      if (count % YIELD_EVERY === 0) await nextTurn();
    }
  } finally {
    writer.close();
  }
  if (zone === undefined) {
    const problem = `${file}: there is no SOA record`;
    throw new ZonesError('E_ZONE_FILE', problem, [{ problem, fix: 'add "@ SOA …" (RFC 1035, section 5.2)' }]);
  }
  const { findings } = checkZone(zone, checked ?? (await specialRecords(path, zone, YIELD_EVERY, nextTurn)));
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new ZonesError('E_ZONE_FILE', `the zone in ${file}`, errors.map(withFile(file)));
  return zoneFileName(zone).toLowerCase();
}

/** A finding without a record, or of a large zone, does not name the file. */
function withFile(file: string): (finding: ZoneFinding) => Problem {
  return ({ problem, fix, record }) => ({
    problem: record?.file === undefined ? `${file}: ${problem}` : problem,
    fix,
  });
}

/** Reads a zone file into a file of records, and says what is wrong with its zone. */
import { basename } from 'node:path';
import type { Problem } from '@dinodns-bench/program';
import { lowerCaseName, TYPE } from '@dinodns-bench/wire';
import {
  checkZone,
  hashFinding,
  isWithin,
  originFromText,
  readZoneFile,
  type ZoneFinding,
  type ZoneRecord,
  ZonesError,
} from '@dinodns-bench/zones/data';
import type { Slices } from '../store/slices.ts';
import { RecordsWriter } from './records-file.ts';
import { MAX_WRONG_NAMES } from './soundness.ts';

/** A zone file, and its zone's name if neither the file's contents nor its name give it. */
export interface ZoneFileOption {
  readonly file: string;
  readonly origin?: string;
}

/** `example.org` for `example.org.zone` and `db.example.org`; undefined for other names. */
export function originOfFile(file: string): string | undefined {
  return /^(?:db\.(.+)|(.+)\.zone)$/
    .exec(basename(file))
    ?.slice(1)
    .find((name) => name !== undefined);
}

/** To show a fault, two different records of a type are as good as all of them. */
const MAX_OF_A_TYPE = 2;

/** A name in the form in which names are compared. */
export function keyOf(name: Uint8Array): string {
  return lowerCaseName(name).toString('latin1');
}

/**
 * Writes the records of a zone file to `path`, and returns the zone's name; records of other zones that come before it is known are among
 * them. Rejects with a `ZonesError` for a file that is not valid, and
 * for records that are wrong by themselves; of what is wrong only together with others, `wrongNames` knows.
 */
export async function readInto(path: string, option: ZoneFileOption, slices: Slices): Promise<Buffer> {
  const { file, origin } = option;
  const writer = new RecordsWriter(path);
  let zone = origin === undefined ? undefined : originFromText(origin);
  let suspects: Uint8Array[] = [];
  let soa: Uint8Array | undefined;
  try {
    for (const record of recordsOf(option)) {
      const { name, type, data } = record;
      if (type === TYPE.SOA && zone === undefined) {
        const apex = Buffer.from(name);
        suspects = suspects.filter((suspect) => isWithin(suspect, apex)).slice(0, MAX_WRONG_NAMES);
        zone = apex;
      }
      if (zone === undefined || isWithin(name, zone)) {
        writer.add(record);
        const isApex = name.length === zone?.length;
        const isOtherSoa = type === TYPE.SOA && (!isApex || Buffer.compare(soa ?? data, data) !== 0);
        if (isApex && type === TYPE.SOA) soa ??= data;
        const isSuspect = isOtherSoa || hashFinding(record) !== undefined;
        // Of those before the zone's name is known, it is not known either which are in the zone.
        if (isSuspect && (zone === undefined || suspects.length < MAX_WRONG_NAMES))
          suspects.push(Buffer.from(name));
      }
      if (slices.isOver) await slices.pause();
    }
  } finally {
    writer.close();
  }
  if (zone === undefined) {
    const problem = `${file}: there is no SOA record`;
    throw new ZonesError('E_ZONE_FILE', problem, [{ problem, fix: 'add "@ SOA …" (RFC 1035, section 5.2)' }]);
  }
  if (suspects.length > 0 || soa === undefined) throw await faultsOf(option, zone, suspects, slices);
  return zone;
}

/** What is wrong with a zone at its apex and at these names. Reads the file again, which says where they are. */
export async function faultsOf(
  option: ZoneFileOption,
  zone: Uint8Array,
  suspects: readonly Uint8Array[],
  slices: Slices,
): Promise<ZonesError> {
  const { file } = option;
  const found = [zone, ...suspects].map((name) => ({ name, records: [] as ZoneRecord[] }));
  for (const record of recordsOf(option)) {
    for (const { name, records } of found) {
      if (name.length !== record.name.length || !isWithin(record.name, name)) continue;
      if (isNew(records, record)) records.push(record);
      break;
    }
    if (slices.isOver) await slices.pause();
  }
  const findings = checkZone(
    zone,
    found.flatMap(({ records }) => records),
  );
  const errors = findings.filter(({ severity }) => severity === 'error').map(withFile(file));
  const changed = { problem: `${file} changed while it was read`, fix: 'reload again' };
  return new ZonesError('E_ZONE_FILE', `the zone in ${file}`, errors.length > 0 ? errors : [changed]);
}

/** Whether a record shows something that those of its name do not. */
function isNew(known: readonly ZoneRecord[], { type, data }: ZoneRecord): boolean {
  let same = 0;
  for (const other of known) {
    if (other.type !== type) continue;
    if (++same === MAX_OF_A_TYPE || Buffer.compare(other.data, data) === 0) return false;
  }
  return true;
}

function recordsOf({ file, origin }: ZoneFileOption): Iterable<ZoneRecord> {
  return readZoneFile(file, { origin: origin ?? originOfFile(file) ?? '.' });
}

/** A finding without a record does not name the file. */
function withFile(file: string): (finding: ZoneFinding) => Problem {
  return ({ problem, fix, record }) => ({
    problem: record?.file === undefined ? `${file}: ${problem}` : problem,
    fix,
  });
}

/**
 * Zones as newline-delimited JSON, so that a million of them need not fit into one string. The first line
 * identifies the file and says how many zones follow:
 *
 *     {"format":"dinodns-zones","version":1,"zones":100,"spec":{…}}
 *     {"name":"example1.com","records":[{"name":"example1.com","ttl":60,"type":"A","data":"127.0.0.1"}, …]}
 *
 * Records have dns-packet's shape. `spec` is what the zones were generated from; readers may ignore it.
 */
import { z } from 'zod';
import { ZonesError } from './errors.ts';
import { nameProblem, normalizeName } from './names.ts';
import { describeIssue } from './problems.ts';
import { absoluteRecordSchema, type ResourceRecord, type TypedData } from './record-schema.ts';
import { MAX_TTL } from './zone-file/ttl.ts';
import type { Zone, ZoneSet } from './zone-set.ts';

/** Identifies the file. The version is raised when readers of the old one would misread the new one. */
const ZONES_JSON_FORMAT = 'dinodns-zones';
const ZONES_JSON_VERSION = 1;

/** No zone with valid records comes near this; a file of another kind without line breaks does. */
const MAX_LINE_CHARACTERS = 16 * 1024 * 1024;

const headerSchema = z.object({
  format: z.literal(ZONES_JSON_FORMAT),
  version: z.number(),
  zones: z.int().min(0),
});

const zoneSchema = z.strictObject({ name: z.string().min(1), records: z.array(z.unknown()) });

/** Names that need no further look, as nearly all are: a fast path of `nameProblem`. */
const ORDINARY_NAME =
  /^(?!.{254})[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** The first line of the file, with its line break. */
export function zonesJsonHeader({ size, spec }: ZoneSet): string {
  return `${JSON.stringify({ format: ZONES_JSON_FORMAT, version: ZONES_JSON_VERSION, zones: size, spec })}\n`;
}

const FIX_LINE = 'regenerate the file, or correct the line';

type TextSource = string | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/**
 * Reads the text of a `zones.ndjson` file (a string, or chunks such as those of a read stream), and checks and yields
 * its zones one by one. Throws a `ZonesError` (`E_ZONES_FILE`) that names the line if anything is not valid, and at
 * the end if zones are missing.
 */
export async function* parseZonesJson(source: TextSource): AsyncGenerator<Zone, void, void> {
  let announced: number | undefined;
  let zones = 0;
  let number = 0;
  const knownData: KnownData = new Map();
  for await (const batch of lineBatches(source)) {
    for (const line of batch) {
      number += 1;
      if (announced === undefined) announced = announcedIn(line);
      else if (line !== '') {
        yield readZone(line, number, knownData);
        zones += 1;
      }
    }
  }
  if (announced === undefined) throw notZones('the file is empty');
  if (zones !== announced) {
    throw failure(
      `the file has ${zones} zones, but its first line says ${announced}`,
      'regenerate it: it was truncated or edited',
    );
  }
}

/** The lines of each chunk together: a promise for each line would take most of the time. */
async function* lineBatches(source: TextSource): AsyncGenerator<string[], void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of typeof source === 'string' ? [source] : source) {
    const lines = (
      rest + (typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true }))
    ).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARACTERS) throw notZones('a line is too long');
    yield lines;
  }
  if (rest !== '') yield [rest];
}

function failure(problem: string, fix: string): ZonesError {
  return new ZonesError('E_ZONES_FILE', problem, fix);
}

function notZones(why: string): ZonesError {
  return failure(
    `this is not a zones file: ${why}`,
    'create one with: dinodns-zones generate --format dinodns-json --out DIR',
  );
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The number of zones that the first line of a file announces. Throws a `ZonesError` for any other line. */
function announcedIn(line: string): number {
  const header = headerSchema.safeParse(parseLine(line));
  if (!header.success) throw notZones(`its first line is not {"format":"${ZONES_JSON_FORMAT}",…}`);
  const { version, zones } = header.data;
  if (version !== ZONES_JSON_VERSION) {
    throw failure(
      `the zones file has version ${version}, this program reads version ${ZONES_JSON_VERSION}`,
      'regenerate it with the dinodns-zones of the same release',
    );
  }
  return zones;
}

type PlainZone = z.infer<typeof zoneSchema>;

/** What `zoneSchema` accepts, without the time that it takes. */
function isZone(value: unknown): value is PlainZone {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    value.name !== '' &&
    'records' in value &&
    Array.isArray(value.records) &&
    Object.keys(value).length === 2
  );
}

/** Throws what is wrong. */
function zoneOf(value: unknown, number: number): PlainZone {
  const parsed = zoneSchema.safeParse(value, { reportInput: true });
  if (!parsed.success) throw issueFailure(parsed.error, number);
  return parsed.data;
}

function readZone(line: string, number: number, knownData: KnownData): Zone {
  const value = parseLine(line);
  if (value === undefined) throw failure(`line ${number} is not JSON: ${line.slice(0, 80)}`, FIX_LINE);
  const { name: given, records: values } = isZone(value) ? value : zoneOf(value, number);
  const name = normalizeName(given);
  const bad = ORDINARY_NAME.test(name) ? undefined : nameProblem(name, 'the zone');
  if (bad !== undefined) throw failure(`line ${number}: ${bad.problem}`, bad.fix);
  const below = name === '.' ? '' : `.${name}`;
  const records = values.map((record) => readRecord(record, name, number, knownData));
  const stray = records.find((record) => record.name !== name && !record.name.endsWith(below));
  if (stray === undefined) return { name, records };
  const problem = `the record ${stray.type} of "${stray.name}" is not in the zone "${name}"`;
  throw failure(`line ${number}: ${problem}`, FIX_LINE);
}

function issueFailure({ issues: [issue] }: z.ZodError, number: number): ZonesError {
  const found =
    issue === undefined ? { problem: 'not a zone', fix: FIX_LINE } : describeIssue(issue, FIX_LINE);
  return failure(`line ${number}: ${found.problem}`, found.fix);
}

/**
 * Data that has been checked, by type and text. Most zones of a file hold the same data, so most records need no
 * check of their own and share one object in memory.
 */
type KnownData = Map<string, TypedData>;

/** If the data differs from zone to zone, remembering all of it would cost more than checking it. */
const MAX_KNOWN_DATA = 1000;

function readRecord(value: unknown, zone: string, number: number, knownData: KnownData): ResourceRecord {
  if (hasOrdinaryHead(value, zone)) {
    // JSON shows where it ends, and tells a list from a string that looks like one.
    const key = `${JSON.stringify(value.data)} ${value.type}`;
    const known = knownData.get(key) ?? checked(value, number);
    if (knownData.size < MAX_KNOWN_DATA) knownData.set(key, known);
    return { name: value.name, ttl: value.ttl, type: known.type, data: known.data } as ResourceRecord;
  }
  return checked(value, number);
}

/** A record of which only the data needs a look. */
interface OrdinaryHead {
  readonly name: string;
  readonly ttl: number;
  readonly type: string;
  readonly data: unknown;
}

function hasOrdinaryHead(value: unknown, zone: string): value is OrdinaryHead {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    (value.name === zone || ORDINARY_NAME.test(value.name)) &&
    'ttl' in value &&
    Number.isInteger(value.ttl) &&
    Number(value.ttl) >= 0 &&
    Number(value.ttl) <= MAX_TTL &&
    'type' in value &&
    typeof value.type === 'string' &&
    'data' in value &&
    Object.keys(value).length === 4
  );
}

function checked(value: unknown, number: number): ResourceRecord {
  const parsed = absoluteRecordSchema.safeParse(value, { reportInput: true });
  if (!parsed.success) throw issueFailure(parsed.error, number);
  return parsed.data;
}

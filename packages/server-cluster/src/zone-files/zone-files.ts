/**
 * The zones of zone files (RFC 1035), each independent of the others. If a file is unreadable or its zone invalid,
 * the previous version of that zone stays in service, and other zones are unaffected.
 */
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf, type Problem } from '@dinodns-bench/program';
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
import { ServerError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { RecordsWriter, recordBatches, type WireRecord, zoneHeader } from './records-file.ts';

/** A zone file, and its zone's name if neither the file's contents nor its name give it. */
export interface ZoneFileOption {
  readonly file: string;
  readonly origin?: string;
}

export interface ZoneFilesOptions {
  readonly files: readonly ZoneFileOption[];
  /** Directories in which every file named `NAME.zone` or `db.NAME` is served. */
  readonly directories: readonly string[];
}

/** Records between two turns of the event loop, which answers queries: about two milliseconds. */
const YIELD_EVERY = 500;
/** In larger zones, only records that can cause an error are checked. */
const MAX_CHECKED_WHOLE = 20_000;
/** Types that can make other records at or below their owner invalid. */
const SPECIAL: ReadonlySet<number> = new Set([TYPE.SOA, TYPE.CNAME, TYPE.DNAME]);

/** `example.org` for `example.org.zone` and `db.example.org`; undefined for other names. */
function originOfFile(file: string): string | undefined {
  return /^(?:db\.(.+)|(.+)\.zone)$/
    .exec(basename(file))
    ?.slice(1)
    .find((name) => name !== undefined);
}

export class ZoneFiles {
  readonly #options: ZoneFilesOptions;
  readonly #log: Log;
  /** The file that each served zone came from, by zone name in lower case. */
  #sources = new Map<string, string>();

  constructor(options: ZoneFilesOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Reads all files again and writes the records of all zones to `path`; the records kept per zone are beside it.
   * Logs each rejected zone with file, line and column. Rejects with `E_ZONES` if no zone is left.
   */
  async write(path: string): Promise<void> {
    const before = this.#sources;
    const sources = new Map<string, string>();
    const refused: Problem[] = [];
    for (const option of this.#list(refused)) await this.#read(option, path, sources, before, refused);
    this.#sources = sources;
    for (const [zone] of before) if (!sources.has(zone)) rmSync(keptPath(path, zone), { force: true });
    this.#report(refused);
    if (sources.size === 0) throw nothingToServe(refused);
    writeFileSync(path, '', { mode: 0o600 });
    for (const [zone] of sources) {
      appendFileSync(path, zoneHeader(originFromText(zone)));
      appendFileSync(path, readFileSync(keptPath(path, zone)));
    }
  }

  #list(refused: Problem[]): ZoneFileOption[] {
    const found = this.#options.directories.flatMap((directory) => {
      try {
        return readdirSync(directory)
          .filter((name) => originOfFile(name) !== undefined && !name.startsWith('.'))
          .sort()
          .map((name) => ({ file: join(directory, name) }))
          .filter(({ file }) => statSync(file).isFile());
      } catch (error) {
        const problem = `cannot read the directory ${directory}: ${messageOf(error)}`;
        refused.push({ problem, fix: 'give a directory that this user may read' });
        return [];
      }
    });
    return [...this.#options.files, ...found];
  }

  async #read(
    option: ZoneFileOption,
    path: string,
    sources: Map<string, string>,
    before: ReadonlyMap<string, string>,
    refused: Problem[],
  ): Promise<void> {
    const fresh = `${path}.new`;
    try {
      const zone = await readInto(fresh, option);
      const other = sources.get(zone);
      if (other !== undefined) {
        const problem = `${option.file}: the zone ${zone} is in ${other} too`;
        throw new ZonesError('E_ZONE_FILE', problem, [{ problem, fix: 'serve it from one of them' }]);
      }
      renameSync(fresh, keptPath(path, zone));
      sources.set(zone, option.file);
    } catch (error) {
      rmSync(fresh, { force: true });
      if (!(error instanceof ZonesError)) throw error;
      refused.push(...error.problems);
      for (const [zone, file] of before) {
        if (file === option.file && !sources.has(zone) && existsSync(keptPath(path, zone)))
          sources.set(zone, file);
      }
    }
  }

  #report(refused: readonly Problem[]): void {
    for (const { problem, fix } of refused) this.#log.error({ fix }, `Zone file refused: ${problem}`);
  }
}

/** A zone name may contain any byte and may be longer than a file name. */
function keptPath(path: string, zone: string): string {
  return join(dirname(path), `zone-${Buffer.from(zone).toString('base64url').slice(0, 200)}.records`);
}

function nothingToServe(refused: readonly Problem[]): ServerError {
  const [first] = refused;
  if (first === undefined)
    return new ServerError('E_ZONES', 'There is no zone file to serve.', 'Name one with --zone FILE.');
  const more = refused.length === 1 ? '' : ` (and ${refused.length - 1} more problems)`;
  return new ServerError('E_ZONES', `No zone can be served: ${first.problem}${more}`, first.fix);
}

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
  const { findings } = checkZone(zone, checked ?? (await specialRecords(path, zone)));
  const errors = findings.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new ZonesError('E_ZONE_FILE', `the zone in ${file}`, errors.map(withFile(file)));
  return zoneFileName(zone).toLowerCase();
}

/** A finding without a record does not name the file. */
function withFile(file: string): (finding: ZoneFinding) => Problem {
  return ({ problem, fix, record }) => ({
    problem: record === undefined ? `${file}: ${problem}` : problem,
    fix,
  });
}

/**
 * The records of a large zone that can cause an error: those at the apex, at names with an alias or a second SOA
 * record beside other data, and everything below DNAME records.
 */
async function specialRecords(path: string, zone: Uint8Array): Promise<WireRecord[]> {
  const counts = new Map<string, number>();
  const redirected: Uint8Array[] = [];
  for await (const records of recordBatches(path)) {
    for (const { name, type } of records) {
      if (SPECIAL.has(type)) counts.set(keyOf(name), 0);
      if (type === TYPE.DNAME) redirected.push(Buffer.from(name));
    }
  }
  for await (const records of recordBatches(path)) {
    for (const { name } of records) {
      const key = keyOf(name);
      const count = counts.get(key);
      if (count !== undefined) counts.set(key, count + 1);
    }
  }
  const apex = keyOf(zone);
  const found: WireRecord[] = [];
  for await (const records of recordBatches(path)) {
    for (const { name, type, ttl, data } of records) {
      const key = keyOf(name);
      const isFound =
        key === apex || (counts.get(key) ?? 0) > 1 || redirected.some((above) => isWithin(name, above));
      if (isFound) found.push({ name: Buffer.from(name), type, ttl, data: Buffer.from(data) });
    }
  }
  return found;
}

/** The key under which names compare equal. */
function keyOf(name: Uint8Array): string {
  return Buffer.from(name.buffer, name.byteOffset, name.length).toString('latin1').toLowerCase();
}

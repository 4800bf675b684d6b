/**
 * The zones of zone files (RFC 1035), each independent of the others. If a file is unreadable or its zone invalid,
 * the previous version of that zone stays in service, and other zones are unaffected.
 */
import { hash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { messageOf, type Problem } from '@dinodns-bench/program';
import { originFromText, ZonesError } from '@dinodns-bench/zones';
import { ServerError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { readInto } from './read-zone.ts';
import { zoneHeader } from './records-file.ts';
import { originOfFile, type ZoneFileOption } from './zone-file-option.ts';

export interface ZoneFilesOptions {
  readonly files: readonly ZoneFileOption[];
  /** Directories in which every file named `NAME.zone` or `db.NAME` is served. */
  readonly directories: readonly string[];
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
    const { files, unreadable } = this.#list(refused);
    for (const option of files) await this.#read(option, path, sources, before, refused);
    keepZones(path, sources, before, (file) =>
      unreadable.some((directory) => join(directory, basename(file)) === file),
    );
    this.#report(refused);
    // What is served then stays as it is, and so do the records that a later reload may need.
    if (sources.size === 0) throw nothingToServe(refused);
    this.#sources = sources;
    for (const [zone] of before) if (!sources.has(zone)) rmSync(keptPath(path, zone), { force: true });
    await joinZones(path, [...sources.keys()]);
  }

  /** All zone files, and the directories whose files could not be found. */
  #list(refused: Problem[]): { files: ZoneFileOption[]; unreadable: string[] } {
    const unreadable: string[] = [];
    const found = this.#options.directories.flatMap((directory) => {
      try {
        return readdirSync(directory)
          .filter((name) => originOfFile(name) !== undefined && !name.startsWith('.'))
          .sort()
          .map((name) => ({ file: join(directory, name) }))
          .filter(({ file }) => mayBeFile(file));
      } catch (error) {
        const problem = `cannot read the directory ${directory}: ${messageOf(error)}`;
        refused.push({ problem, fix: 'give a directory that this user may read' });
        unreadable.push(directory);
        return [];
      }
    });
    return { files: [...this.#options.files, ...found], unreadable };
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
      keepZones(path, sources, before, (file) => file === option.file);
    }
  }

  #report(refused: readonly Problem[]): void {
    for (const { problem, fix } of refused) this.#log.error({ fix }, `Zone file refused: ${problem}`);
  }
}

/** Also true for a link that leads nowhere and for a file that has just been removed: reading them says what is wrong. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

/** Keeps the zones that were served and came from the files for which `isLost` is true. */
function keepZones(
  path: string,
  sources: Map<string, string>,
  before: ReadonlyMap<string, string>,
  isLost: (file: string) => boolean,
): void {
  for (const [zone, file] of before)
    if (isLost(file) && !sources.has(zone) && existsSync(keptPath(path, zone))) sources.set(zone, file);
}

/** A zone name may contain any byte and may be longer than a file name. */
function keptPath(path: string, zone: string): string {
  return join(dirname(path), `zone-${hash('sha256', zone, 'hex')}.records`);
}

/** Writes the kept records of all zones into one file, while queries are answered. */
async function joinZones(path: string, zones: readonly string[]): Promise<void> {
  const output = createWriteStream(path, { mode: 0o600 });
  await pipeline(async function* () {
    for (const zone of zones) {
      yield zoneHeader(originFromText(zone));
      yield* createReadStream(keptPath(path, zone));
    }
  }, output);
}

function nothingToServe(refused: readonly Problem[]): ServerError {
  const [first] = refused;
  if (first === undefined)
    return new ServerError('E_ZONES', 'There is no zone file to serve.', 'Name one with --zone FILE.');
  const more = refused.length === 1 ? '' : ` (and ${refused.length - 1} more problems)`;
  return new ServerError('E_ZONES', `No zone can be served: ${first.problem}${more}`, first.fix);
}

/**
 * The zones of zone files (RFC 1035), each independent of the others. If a file is unreadable or its zone invalid,
 * the previous version of that zone stays in service, and other zones are unaffected.
 */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Problem, whyUnreadable } from '@dinodns-bench/program';
import { ZonesError, zoneFileName } from '@dinodns-bench/zones/data';
import { ServerError } from '../errors.ts';
import type { Log } from '../log/log.ts';
import type { Slices } from '../store/slices.ts';
import { ZoneStore } from '../store/zone-store.ts';
import { faultsOf, keyOf, originOfFile, readInto, type ZoneFileOption } from './read-zone.ts';
import { loadRecords } from './records-file.ts';
import { wrongNames } from './soundness.ts';

export interface ZoneFilesOptions {
  readonly files: readonly ZoneFileOption[];
  /** Directories in which every file named `NAME.zone` or `db.NAME` is served. */
  readonly directories: readonly string[];
}

/** Why a file, or a zone of it, is not served. */
interface Refusal extends Problem {
  /** Nothing could be read of it. */
  readonly isUnreadable?: boolean;
}

/** What files are called that are not kept yet. */
const FRESH = '.new';

/** A zone that can be served. */
interface Source {
  readonly option: ZoneFileOption;
  /** Its records: newly read, or kept of the last version that was sound. */
  readonly path: string;
}

/** By the zone's name in wire format and lower case, as Latin-1 text. */
type Sources = ReadonlyMap<string, Source>;

export class ZoneFiles {
  readonly #options: ZoneFilesOptions;
  readonly #log: Log;
  #sources: Sources = new Map();

  constructor(options: ZoneFilesOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /**
   * Reads all files again and returns a store of all zones; the records of each are kept in `directory`, the same at each call.
   * Logs each rejected zone with file, line and column. Rejects with `E_ZONES` if no zone is left,
   * and with `E_UNREADABLE` if no file could be read.
   */
  async load(directory: string, slices: Slices): Promise<ZoneStore> {
    const refused: Refusal[] = [];
    const sources = new Map<string, Source>();
    const { files, unreadable } = this.#list(refused);
    try {
      for (const option of files) await this.#read(option, directory, sources, refused, slices);
      const isLost = ({ file }: ZoneFileOption) =>
        unreadable.some((other) => join(other, basename(file)) === file);
      this.#keep(sources, refused, isLost);
      let store = await storeOf(sources, slices);
      if (await this.#refuseWrong(store, sources, refused, slices)) store = await storeOf(sources, slices);
      // The only problem is the error.
      if (sources.size > 0 || refused.length > 1)
        for (const { problem, fix } of refused) this.#log.error({ fix }, `Zone file refused: ${problem}`);
      // What is served then stays as it is, and so do the records that a later reload may need.
      if (sources.size === 0) throw nothingToServe(refused);
      this.#settle(sources, directory);
      return store;
    } finally {
      for (const { path } of sources.values()) if (path.endsWith(FRESH)) rmSync(path, { force: true });
    }
  }

  /** All zone files, and the directories whose files could not be found. */
  #list(refused: Refusal[]): { files: ZoneFileOption[]; unreadable: string[] } {
    const unreadable: string[] = [];
    const found = this.#options.directories.flatMap((directory) => {
      try {
        return readdirSync(directory)
          .filter((name) => originOfFile(name) !== undefined && !name.startsWith('.'))
          .sort()
          .map((name) => ({ file: join(directory, name) }))
          .filter(({ file }) => mayBeFile(file));
      } catch (error) {
        const problem = `the directory ${directory} ${whyUnreadable(error)}`;
        refused.push({ problem, fix: 'give a directory that this user may read', isUnreadable: true });
        unreadable.push(directory);
        return [];
      }
    });
    return { files: [...this.#options.files, ...found], unreadable };
  }

  async #read(
    option: ZoneFileOption,
    directory: string,
    sources: Map<string, Source>,
    refused: Refusal[],
    slices: Slices,
  ): Promise<void> {
    const unnamed = join(directory, FRESH);
    try {
      const zone = keyOf(await readInto(unnamed, option, slices));
      const other = sources.get(zone);
      if (other !== undefined) {
        const problem = `${option.file}: the zone ${nameOf(zone)} is in ${other.option.file} too`;
        throw new ZonesError('E_ZONE_FILE', problem, [{ problem, fix: 'serve it from one of them' }]);
      }
      const path = keptPath(directory, zone) + FRESH;
      renameSync(unnamed, path);
      sources.set(zone, { option, path });
    } catch (error) {
      rmSync(unnamed, { force: true });
      if (!(error instanceof ZonesError)) throw error;
      const isUnreadable = error.code === 'E_UNREADABLE';
      refused.push(...error.problems.map((each) => ({ ...each, isUnreadable })));
      this.#keep(sources, refused, ({ file }) => file === option.file);
    }
  }

  /** Keeps the zones that were served and came from the files for which `isLost` is true. */
  #keep(sources: Map<string, Source>, refused: Refusal[], isLost: (option: ZoneFileOption) => boolean): void {
    for (const [zone, source] of this.#sources)
      if (isLost(source.option) && !sources.has(zone) && isThere(source, refused)) sources.set(zone, source);
  }

  /** Replaces zones that are not sound by what was served before, if anything was; whether there are any. */
  async #refuseWrong(
    { data }: ZoneStore,
    sources: Map<string, Source>,
    refused: Refusal[],
    slices: Slices,
  ): Promise<boolean> {
    const zones = Array.from(sources.keys(), (zone) => Buffer.from(zone, 'latin1'));
    const wrong = await wrongNames(data, zones, slices);
    for (const [zone, source] of [...sources]) {
      const { option, path } = source;
      const name = Buffer.from(zone, 'latin1');
      const nodes = wrong.get(data.names.find(name));
      if (nodes === undefined) continue;
      const suspects = Array.from(nodes, (node) => data.names.nameOf(node));
      refused.push(...(await faultsOf(option, name, suspects, slices)).problems);
      if (path.endsWith(FRESH)) rmSync(path, { force: true });
      const before = this.#sources.get(zone);
      if (before === undefined || before === source || !isThere(before, refused)) sources.delete(zone);
      else sources.set(zone, before);
    }
    return wrong.size > 0;
  }

  /** From now on, these are what is served, and their records those that are kept. */
  #settle(sources: Map<string, Source>, directory: string): void {
    for (const [zone, { path }] of this.#sources) if (!sources.has(zone)) rmSync(path, { force: true });
    for (const [zone, { option, path }] of sources) {
      const kept = keptPath(directory, zone);
      if (path !== kept) renameSync(path, kept);
      sources.set(zone, { option, path: kept });
    }
    this.#sources = sources;
  }
}

/** Whether the records of a zone are still kept: other programs remove what is old in the directory for temporary files. */
function isThere({ option, path }: Source, refused: Refusal[]): boolean {
  if (existsSync(path)) return true;
  const problem = `${option.file}: the records of its last valid version are gone (${path})`;
  refused.push({ problem, fix: 'correct the zone file and reload' });
  return false;
}

async function storeOf(sources: Sources, slices: Slices): Promise<ZoneStore> {
  const store = new ZoneStore();
  for (const [zone, { path }] of sources)
    await loadRecords(store.data, path, Buffer.from(zone, 'latin1'), slices);
  return store;
}

function nameOf(zone: string): string {
  return zoneFileName(Buffer.from(zone, 'latin1'));
}

/** Also true for a link that leads nowhere and for a file that has just been removed: reading them says what is wrong. */
function mayBeFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return true;
  }
}

/** A zone name may contain any byte and may be longer than a file name. */
function keptPath(directory: string, zone: string): string {
  return join(directory, `zone-${hash('sha256', zone, 'hex')}.records`);
}

function nothingToServe(refused: readonly Refusal[]): ServerError {
  const [first] = refused;
  if (first === undefined)
    return new ServerError('E_ZONES', 'There is no zone file to serve.', 'Name one with --zone FILE.');
  const more = refused.length === 1 ? '' : ` (and ${refused.length - 1} more problems)`;
  const code = refused.every(({ isUnreadable }) => isUnreadable) ? 'E_UNREADABLE' : 'E_ZONES';
  return new ServerError(code, `No zone can be served: ${first.problem}${more}`, first.fix);
}

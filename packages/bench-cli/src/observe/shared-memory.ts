/**
 * The proportional set size of a server depends on who else has the same pages mapped: two servers that run on the same
 * Node.js divide its pages between them. These functions say how much of that a server would have had alone.
 */
import { readIfThere } from '../machine/proc-files.ts';
import { sum } from '../stats/intervals.ts';
import type { World } from '../world.ts';

/** What one process has of one file, in bytes. */
export interface FilePages {
  readonly resident: number;
  readonly proportional: number;
  /** Mapped by this process only. */
  readonly own: number;
}

const HEADER = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ (\S+) (\d+)/;

/** Parses /proc/<pid>/smaps (proc(5)): the pages of each file, by device and inode. */
export function parseFilePages(smaps: string): Map<string, FilePages> {
  const files = new Map<string, FilePages>();
  let file: string | null = null;
  for (const line of smaps.split('\n')) {
    const header = HEADER.exec(line);
    if (header !== null) {
      file = header[2] === '0' ? null : `${header[1]}:${header[2]}`;
      continue;
    }
    const [, name, kilobytes] = /^(Rss|Pss|Private_Clean|Private_Dirty): +(\d+) kB/.exec(line) ?? [];
    if (file === null || name === undefined) continue;
    const before = files.get(file) ?? { resident: 0, proportional: 0, own: 0 };
    const bytes = Number(kilobytes) * 1024;
    files.set(file, {
      resident: before.resident + (name === 'Rss' ? bytes : 0),
      proportional: before.proportional + (name === 'Pss' ? bytes : 0),
      own: before.own + (name.startsWith('Private') ? bytes : 0),
    });
  }
  return files;
}

/**
 * What the proportional size of a file would grow by without `others` processes that map it too. The shared pages of a
 * file are taken to be shared by equally many.
 */
export function grownWithout({ resident, proportional, own }: FilePages, others: number): number {
  const shared = resident - own;
  const sharedProportional = proportional - own;
  if (shared <= 0 || sharedProportional <= 0) return 0;
  const sharers = shared / sharedProportional;
  return shared / Math.max(1, sharers - others) - sharedProportional;
}

/** By server, from the files of its processes: see `grownWithout`, summed. */
export function sharedBetween(servers: readonly (readonly ReadonlyMap<string, FilePages>[])[]): number[] {
  const mappers = (server: number, file: string) =>
    servers[server]?.filter((maps) => maps.has(file)).length ?? 0;
  return servers.map((processes, server) =>
    processes
      .flatMap((maps) => [...maps])
      .reduce((total, [file, pages]) => {
        const others = sum(servers.map((_, index) => (index === server ? 0 : mappers(index, file))));
        return total + (others === 0 ? 0 : grownWithout(pages, others));
      }, 0),
  );
}

/** Reads the processes of each server; null for all if one may not be read. */
export async function readSharedBetween(
  world: World,
  servers: readonly (readonly number[])[],
): Promise<number[] | null> {
  const texts = await Promise.all(
    servers.map((pids) => Promise.all(pids.map((pid) => readIfThere(world, `/proc/${pid}/smaps`)))),
  );
  if (texts.some((server) => server.includes(null))) return null;
  return sharedBetween(texts.map((server) => server.map((text) => parseFilePages(text ?? ''))));
}

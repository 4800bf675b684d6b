/** The servers of a run: of kinds that bench has, and those that the user brings. */
import { resolve } from 'node:path';
import { caseNameOf, type OwnServer, parseOwnServer } from '../config/server-name.ts';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { findRunning } from './at/index.ts';
import { loadOwnServer } from './own/index.ts';
import { findServer, serverNames, type VersionSettings } from './registry.ts';
import type { Server } from './server.ts';

type FileWorld = Pick<World, 'fs' | 'cwd' | 'processes'>;

/** In Kubernetes labels, names of files, and filters. */
const OWN_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** @throws BenchError `E_CONFIG` for a name that a table cannot tell from another. */
function demandName(name: string): void {
  const fix = `For example: --servers my=./server.yaml, or old=at:192.0.2.1.`;
  if (!OWN_NAME.test(name)) {
    throw new BenchError('E_CONFIG', `--servers: "${name}" cannot be the name of a server`, {
      fix: `Use lower-case letters, digits and hyphens, beginning with a letter. ${fix}`,
    });
  }
  if (serverNames().includes(name)) {
    throw new BenchError('E_CONFIG', `--servers: "${name}" is a server that bench has`, {
      fix: `Give yours another name. ${fix}`,
    });
  }
}

async function loadOwn(world: FileWorld, entry: string, { name, source }: OwnServer): Promise<Server> {
  if (name !== null) demandName(name);
  const caseName = caseNameOf(entry);
  return source.kind === 'at'
    ? findRunning(caseName, name, source.text)
    : loadOwnServer(world, caseName, source.path);
}

const FILE_ENDINGS = ['', '.yaml', '.yml'];

/** A name that is no kind may be meant as that of a file. */
async function findKind(world: FileWorld, entry: string, settings: VersionSettings): Promise<Server> {
  try {
    return findServer(entry, settings);
  } catch (error) {
    if (!(error instanceof BenchError) || error.code !== 'E_UNKNOWN_SERVER') throw error;
    for (const ending of FILE_ENDINGS) {
      const path = `${entry}${ending}`;
      const isFile = await world.fs.stat(resolve(world.cwd, path)).then(
        (stat) => stat.isFile(),
        () => false,
      );
      if (!isFile) continue;
      throw new BenchError('E_UNKNOWN_SERVER', error.message, {
        fix: `To start the server that the file ${path} describes, give it a name: --servers my=${path}`,
        cause: error,
      });
    }
    throw error;
  }
}

/**
 * The servers of the entries of `--servers`.
 * @throws BenchError as `findServer` and the servers of the user's own do.
 */
export function loadServers(
  world: FileWorld,
  entries: readonly string[],
  settings: VersionSettings,
): Promise<Server[]> {
  return Promise.all(
    entries.map(async (entry) => {
      const own = parseOwnServer(entry);
      return own === null ? findKind(world, entry, settings) : loadOwn(world, entry, own);
    }),
  );
}

/**
 * Runs before and after each test file: gives it a temporary folder, marks everything it starts, and checks at the end
 * that nothing is left. Leftovers are reported, removed, and fail the file.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, inject } from 'vitest';
import { type LeftBy, lastingLeftovers, removeLeftovers } from './leftovers.ts';
import {
  FILE_VARIABLE,
  FOLDER_VARIABLE,
  graceSeconds,
  PATH_VARIABLE,
  RUN_VARIABLE,
  TEMPORARY_FOLDER,
} from './marks.ts';
import { namespacePrefix } from './namespaces.ts';

const GRACE_SECONDS = graceSeconds();
const REMOVAL_SECONDS = 10;

/** `<pid>-<start>` of this process, as in the names of control groups. */
function ownOwner(): string {
  if (process.platform !== 'linux') return '';
  const stat = readFileSync('/proc/self/stat', 'utf8');
  return `${process.pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`;
}

function markThisFile(): LeftBy {
  const id = `${process.env[RUN_VARIABLE] ?? 'alone'}.${process.pid}`;
  const runFolder = process.env[FOLDER_VARIABLE];
  const parent = runFolder === undefined ? tmpdir() : join(runFolder, TEMPORARY_FOLDER);
  // Short, because the path of a Unix socket, such as Knot DNS's, may have at most 107 characters.
  const folder = join(parent, runFolder === undefined ? `dt-${process.pid}` : String(process.pid));
  mkdirSync(folder, { recursive: true });
  process.env[FILE_VARIABLE] = id;
  process.env.TMPDIR = folder;
  const freshPath = process.env[PATH_VARIABLE];
  if (inject('suite') === 'workspace' && freshPath !== undefined) process.env.PATH = freshPath;
  return {
    mark: `${FILE_VARIABLE}=${id}`,
    ancestor: process.pid,
    except: new Set([process.pid]),
    namespacePrefix: namespacePrefix(),
    folder,
    owners: new Set([ownOwner()]),
  };
}

const by = markThisFile();

// Vitest kills this process, which would keep its compiled code only when it ends by itself.
afterAll(() => flushCompileCache());

afterAll(
  async () => {
    const left = await lastingLeftovers(by, GRACE_SECONDS);
    await removeLeftovers(by, REMOVAL_SECONDS);
    rmSync(by.folder, { recursive: true, force: true });
    if (left.length > 0) {
      throw new Error(`This test file left behind:\n${left.map(({ name }) => `  ${name}`).join('\n')}`);
    }
  },
  (GRACE_SECONDS + REMOVAL_SECONDS + 15) * 1000,
);

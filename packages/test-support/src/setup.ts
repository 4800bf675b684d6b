/**
 * Runs before and after each test file: gives it a temporary folder, marks everything it starts, and checks at the end
 * that nothing is left. Leftovers are reported, removed, and fail the file.
 */
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aroundAll, expect, inject } from 'vitest';
import { type LeftBy, lastingLeftovers, removeLeftovers } from './leftovers.ts';
import {
  COSTS_VARIABLE,
  FILE_VARIABLE,
  type FileCost,
  FOLDER_VARIABLE,
  graceSeconds,
  namespacePrefix,
  PATH_VARIABLE,
  RUN_VARIABLE,
  statOf,
  TEMPORARY_FOLDER,
} from './marks.ts';

const GRACE_SECONDS = graceSeconds();
const REMOVAL_SECONDS = 10;

/** `<pid>-<start>` of this process, as in the names of control groups. */
function ownOwner(): string {
  return process.platform === 'linux' ? `${process.pid}-${statOf('self')[19]}` : '';
}

/** `USER_HZ` of every Linux: the unit of times in /proc/pid/stat. */
const TICKS_PER_SECOND = 100;

function noteCost(costs: string): void {
  const { user, system } = process.cpuUsage();
  const [children = 0, childrenInKernel = 0] = statOf('self').slice(13, 15).map(Number);
  const cost: FileCost = {
    file: expect.getState().testPath ?? '',
    process: ownOwner(),
    own: (user + system) / 1e6,
    programs: (children + childrenInKernel) / TICKS_PER_SECOND,
  };
  appendFileSync(costs, `${JSON.stringify(cost)}\n`);
}

function markThisFile(): LeftBy {
  const id = `${process.env[RUN_VARIABLE] ?? 'alone'}.${process.pid}`;
  const runFolder = process.env[FOLDER_VARIABLE];
  // Without that of an earlier file of this process.
  const outside = tmpdir().replace(new RegExp(`/dt-${process.pid}$`), '');
  const parent = runFolder === undefined ? outside : join(runFolder, TEMPORARY_FOLDER);
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

const costs = process.env[COSTS_VARIABLE];

// Around everything, because `afterAll` does not run once another one has failed.
aroundAll(
  async (runFile) => {
    await runFile();
    // Vitest kills this process, which would keep its compiled code only when it ends by itself.
    flushCompileCache();
    if (costs !== undefined) noteCost(costs);
    const left = await lastingLeftovers(by, GRACE_SECONDS);
    await removeLeftovers(by, REMOVAL_SECONDS);
    rmSync(by.folder, { recursive: true, force: true });
    if (left.length > 0) {
      throw new Error(`This test file left behind:\n${left.map(({ name }) => `  ${name}`).join('\n')}`);
    }
  },
  (GRACE_SECONDS + REMOVAL_SECONDS + 15) * 1000,
);

/**
 * One version of the answer table in a process of its own, for `compare.ts`: `node version.ts DIRECTORY` loads the
 * table from the sources in that directory and answers each message `{ at, count }` with the CPU nanoseconds per answer of case `at`.
 */
import { pathToFileURL } from 'node:url';
import type { createAnswerTable, ZoneStore } from '@dinodns-bench/server-cluster';
import { answerCases, fillStore } from './cases.ts';

/** What is used of the package, and has not changed since there is an answer table. */
interface ServerPackage {
  readonly ZoneStore: typeof ZoneStore;
  readonly createAnswerTable: typeof createAnswerTable;
}

export interface Round {
  /** Index of the case. */
  readonly at: number;
  /** Answers to give. */
  readonly count: number;
}

const [directory = ''] = process.argv.slice(2);
const server: ServerPackage = await import(
  pathToFileURL(`${directory}/packages/server-cluster/src/index.ts`).href
);
const store = new server.ZoneStore();
fillStore(store);
const cases = answerCases(server.createAnswerTable(store));

process.on('message', ({ at, count }: Round) => {
  const before = process.cpuUsage();
  cases[at]?.run(count);
  const { user, system } = process.cpuUsage(before);
  process.send?.(((user + system) * 1000) / count);
});
process.send?.(cases.map(({ name }) => name));

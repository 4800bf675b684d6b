/**
 * The answer table beside NSD and Knot DNS, on the same zones, question by question. Every difference is allowed by
 * a rule that docs/differences.md explains. COMPARE_QUESTIONS and COMPARE_SEED make it more, and other, questions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs, pathOf, randomFrom } from '@dinodns-bench/test-support';
import { describe, expect, test } from 'vitest';
import { freePort, startProcess } from '../../../zones/test/support/servers.ts';
import { createAnswerTable } from '../../src/table/answer-table.ts';
import { answerTo } from '../table/ask.ts';
import { exchangeAll } from './exchange.ts';
import { type Asked, randomQuestion } from './questions.ts';
import { allowedBy, factsOf } from './rules.ts';
import { type View, viewOf } from './view.ts';
import { storeOfZones, writeZones, zoneSet } from './zone.ts';

const QUESTIONS = Number(process.env.COMPARE_QUESTIONS ?? 4000);
const SEED = Number(process.env.COMPARE_SEED ?? 1);

interface Compared {
  readonly name: string;
  readonly format: string;
  readonly tool: 'nsd' | 'knotd';
  readonly args: (files: string) => readonly string[];
}

const servers: readonly Compared[] = [
  { name: 'NSD', format: 'nsd', tool: 'nsd', args: (files: string) => ['-d', '-c', join(files, 'nsd.conf')] },
  {
    name: 'Knot DNS',
    format: 'knot',
    tool: 'knotd',
    args: (files: string) => ['-c', join(files, 'knot.conf')],
  },
];

async function repliesOf(server: (typeof servers)[number], asked: readonly Asked[]) {
  const directory = await mkdtemp(join(tmpdir(), 'compare-'));
  try {
    const port = await freePort();
    await writeZones(server.format, directory, port);
    const command = [pathOf(server.tool), ...server.args(directory)];
    const running = await startProcess(command, directory, port, zoneSet);
    try {
      return await exchangeAll(
        port,
        asked.map(({ message }) => message),
      );
    } finally {
      await running.stop();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function differingKeys(ours: View, theirs: View): (keyof View)[] {
  return (Object.keys(ours) as (keyof View)[]).filter((key) => ours[key] !== theirs[key]);
}

describe.each(servers)('beside $name', (server) => {
  test('every answer is equal, or differs as documented', {
    timeout: 60_000 + QUESTIONS * 5,
    ...needs(server.tool),
  }, async () => {
    const random = randomFrom(SEED);
    const asked = Array.from({ length: QUESTIONS }, () => randomQuestion(random));
    const table = createAnswerTable(storeOfZones());
    const replies = await repliesOf(server, asked);
    const allowed = new Map<string, number>();
    const faults: object[] = [];
    let same = 0;
    for (const [index, { name, type, message }] of asked.entries()) {
      const ours = viewOf(answerTo(table, message));
      const theirs = viewOf(replies[index] ?? 0);
      const keys = differingKeys(ours, theirs);
      if (keys.length === 0) {
        same++;
        continue;
      }
      const rule = allowedBy({ facts: factsOf(message), ours, theirs, keys });
      if (rule !== undefined) allowed.set(rule, (allowed.get(rule) ?? 0) + 1);
      else faults.push({ name, type, message: message.toString('hex'), keys, ours, theirs });
    }
    if (process.env.COMPARE_QUESTIONS !== undefined) console.info(server.name, { same }, allowed);
    expect(faults.slice(0, 3)).toEqual([]);
    expect(same).toBeGreaterThan(QUESTIONS / 3);
  });
});

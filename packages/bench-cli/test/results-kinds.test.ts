/** Records of several experiments in one store and one history. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readAnyEntry } from '../src/commands/history-options.ts';
import { recordsOf } from '../src/engine/records.ts';
import { allRecords, recordsFor } from '../src/experiments/registry.ts';
import { listRuns } from '../src/history/listing.ts';
import { findRun } from '../src/history/resolve.ts';
import { compareKind } from '../src/results/compare-kind.ts';
import { envelope, type RecordKind } from '../src/results/record-kind.ts';
import { createStore } from '../src/results/store.ts';
import { realWorld } from '../src/world.ts';
import { makeRecord } from './fixtures/make-record.ts';
import { type TestWorld, testWorld } from './support/test-world.ts';

const schema = z.object({ ...envelope('tides', 2), heights: z.array(z.number()) });
type Tides = z.output<typeof schema>;

const tides: RecordKind<Tides> = {
  experiment: 'tides',
  schemaVersion: 2,
  schema,
  schemaFile: 'tides.schema.json',
  title: 'Record of tides',
};

const compared = makeRecord({ cases: [{ server: 'coredns', trials: [{ qps: 100 }] }] });
/** The schema drops what is not of its kind. */
const record: Tides = schema.parse({
  ...compared,
  id: '20261122-080000-0001',
  schemaVersion: 2,
  experiment: 'tides',
  servers: ['moon'],
  heights: [1],
});

let world: TestWorld;
let directory = '';
beforeEach(async () => {
  world = await testWorld();
  directory = join(world.directory, 'results');
});
afterEach(() => world.remove());

const store = () => createStore(realWorld(), directory);

describe('a record of another experiment', () => {
  it('is saved and loaded by its own schema, and found by its experiment', async () => {
    await store().saveAs(tides, record);
    expect((await store().loadAs(tides, 'latest')).record).toEqual(record);
    expect(await store().find(record.id)).toMatchObject({
      experiment: 'tides',
      directory: join(directory, record.id),
    });
    await expect(store().saveAs(tides, { ...record, heights: [Number.NaN] })).rejects.toThrow(
      /violates its schema/,
    );
  });

  it('of another version is refused', async () => {
    const text = JSON.stringify({ ...record, schemaVersion: 3 });
    await store().writeBeside(join(directory, record.id), 'run.json', text);
    await expect(store().loadAs(tides, record.id)).rejects.toThrow(
      /schema version 3, this version of bench reads 2/,
    );
  });

  it('may be compressed, and is read, listed and compared like any other', async () => {
    const { id } = compared;
    await store().saveAs(compareKind, compared);
    const path = join(directory, id, 'run.json');
    await store().writeBeside(join(directory, id), 'run.json.gz', gzipSync(await readFile(path)));
    await rm(path);
    expect(await store().list()).toEqual([id]);
    for (const reference of ['latest', id, join(directory, id), `${path}.gz`]) {
      expect((await store().loadAs(compareKind, reference)).record, reference).toEqual(compared);
    }
    const { runs } = await listRuns(realWorld(), directory, (file) => readAnyEntry(world, file));
    expect(runs.map((run) => run.path)).toEqual([`${path}.gz`]);
    await store().writeBeside(join(directory, id), 'run.json.gz', 'plain text');
    await expect(store().loadAs(compareKind, id)).rejects.toThrow('incorrect header check');
  });

  it('is refused where a comparison is needed, and the other way round', async () => {
    await store().saveAs(tides, record);
    await store().saveAs(compareKind, compared);
    await expect(store().loadAs(compareKind, record.id)).rejects.toThrow(
      'is a record of the experiment "tides"',
    );
    await expect(store().loadAs(tides, compared.id)).rejects.toThrow(
      'is a record of the experiment "compare"',
    );
  });

  it('is in the history, but `latest` of comparisons passes it over', async () => {
    await store().saveAs(tides, record);
    await store().saveAs(compareKind, compared);
    const { runs } = await listRuns(realWorld(), directory, (file) => readAnyEntry(world, file));
    const isWanted = ({ experiment }: { experiment: string }) => experiment === 'compare';
    expect(runs.find(({ id }) => id === record.id)).toMatchObject({
      experiment: 'tides',
      servers: ['moon'],
      cases: [],
    });
    const index = { runs, tags: new Map(), resultsDirectory: directory };
    expect(findRun(index, 'latest', { isWanted })?.id).toBe(compared.id);
    expect(findRun(index, record.id, { isWanted })?.id).toBe(record.id);
  });

  it('can be read, rendered and summarized without knowing its type', async () => {
    await store().saveAs(tides, record);
    const records = recordsOf({
      kind: tides,
      formats: [
        { name: 'terminal', fileName: null, description: 'x', render: ({ heights }) => `${heights}\n` },
      ],
      summarize: ({ heights }) => `${heights.length} heights`,
    });
    const opened = records.open(await store().find('latest'));
    expect(opened.summary).toBe('1 heights');
    expect(opened.render('terminal', { delta: 'relative' })).toBe('1\n');
    expect(opened.render('pdf', { delta: 'relative' })).toBeUndefined();
  });

  it.each([
    [['report', 'latest'], 'This version of bench knows'],
    [['compare', 'latest', '20261122-080000-0001'], 'which has no cases to compare'],
    [['gate', '20261122-080000-0001', '--against', 'latest'], 'which has no cases to compare'],
  ])('that this version does not know: bench %j says so', async (argv, message) => {
    await store().saveAs(compareKind, compared);
    await store().saveAs(tides, record);
    expect(await world.bench(...argv)).not.toBe(0);
    expect(world.err()).toContain(message);
  });

  it('that this version does not know, with other fields: it is skipped for that', async () => {
    await mkdir(join(world.directory, 'results', 'later'), { recursive: true });
    const { generator, id } = record;
    const later = JSON.stringify({ generator, id, schemaVersion: 1, experiment: 'later' });
    await writeFile(join(world.directory, 'results', 'later', 'run.json'), later);
    await world.bench('report', 'latest');
    expect(world.err()).toContain('is a run of the experiment "later", which this version does not know');
    expect(world.err()).not.toContain('lacks fields');
  });
});

it.each((await allRecords()).map((records) => [records.kind.schemaFile, records] as const))(
  '%s is up to date; if not, run `node scripts/write-schemas.ts`',
  async (name, { jsonSchema }) => {
    expect(await readFile(new URL(`../${name}`, import.meta.url), 'utf8')).toBe(jsonSchema());
  },
);

it('every kind of record has a name and a schema file of its own, and is found by it', async () => {
  const kinds = (await allRecords()).map(({ kind }) => kind);
  const names = kinds.map(({ experiment }) => experiment);
  const files = kinds.map(({ schemaFile }) => schemaFile);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(files).size).toBe(files.length);
  for (const kind of kinds)
    expect((await recordsFor({ experiment: kind.experiment, directory: '' })).kind).toBe(kind);
});

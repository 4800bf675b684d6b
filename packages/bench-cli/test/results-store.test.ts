import { type FileHandle, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BenchError } from '../src/errors.ts';
import { compareKind } from '../src/results/compare-kind.ts';
import { newRunId, RUN_ID_PATTERN } from '../src/results/run-id.ts';
import { createStore } from '../src/results/store.ts';
import { type FileSystem, realWorld } from '../src/world.ts';
import { makeRecord } from './fixtures/make-record.ts';

const record = makeRecord({
  cases: [
    { server: 'coredns', trials: [{ qps: 100 }, { qps: 101 }] },
    { server: 'dinodns', trials: [{ qps: 200 }, { failed: 'E_SERVER_DIED' }] },
  ],
});

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bench-store-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

function storeIn(folder = 'results', fs?: FileSystem) {
  const world = realWorld();
  return createStore({ ...world, cwd: directory, fs: fs ?? world.fs }, folder);
}

/** The error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<BenchError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof BenchError)) throw new Error(`expected a BenchError, got ${String(error)}`);
  return error;
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: provoked by the test`), { code });
}

/** A file system on which writing to a file fails half-way. */
function failingWrites(code: string): FileSystem {
  const { fs } = realWorld();
  return {
    ...fs,
    open: async (...args: Parameters<FileSystem['open']>): Promise<FileHandle> => {
      const handle = await fs.open(...args);
      if (args[1] !== 'w') return handle;
      handle.writeFile = async () => {
        await handle.write('{"half": ');
        throw systemError(code);
      };
      return handle;
    },
  };
}

describe('run ids', () => {
  it('are the UTC time and a random suffix, and sort by time', () => {
    const early = newRunId(new Date('2026-11-21T01:50:12.999Z'), () => 0x3f9a / 0x10000);
    expect(early).toBe('20261121-015012-3f9a');
    const late = newRunId(new Date('2026-11-21T01:50:13Z'), () => 0);
    expect(late).toBe('20261121-015013-0000');
    expect([late, early].sort()).toEqual([early, late]);
    for (let i = 0; i < 100; i++) expect(newRunId(new Date())).toMatch(RUN_ID_PATTERN);
    expect(newRunId(new Date(), () => 0.999999999)).toMatch(/-ffff$/);
  });
});

describe('saving', () => {
  it('writes a record that loads again as it was, and leaves nothing else', async () => {
    const store = storeIn();
    await store.saveAs(compareKind, record);
    const loaded = await store.loadAs(compareKind, record.id);
    expect(loaded).toEqual({ record, directory: join(directory, 'results', record.id) });
    expect(await readdir(loaded.directory)).toEqual(['run.json']);
  });

  it('replaces the record as a whole', async () => {
    const store = storeIn();
    await store.saveAs(compareKind, { ...record, warnings: ['a long warning '.repeat(1000)] });
    await store.saveAs(compareKind, record);
    expect((await store.loadAs(compareKind, record.id)).record).toEqual(record);
  });

  it.each(['ENOSPC', 'EDQUOT'])(
    'on %s says that the disk is full and keeps what was saved before',
    async (code) => {
      await storeIn().saveAs(compareKind, record);
      const error = await errorOf(
        storeIn('results', failingWrites(code)).saveAs(compareKind, { ...record, warnings: ['new'] }),
      );
      expect(error.code).toBe('E_DISK_FULL');
      expect(error.message).toContain(record.id);
      expect(error.fix).toContain('--out');
      expect(await readdir(join(directory, 'results', record.id))).toEqual(['run.json']);
      expect((await storeIn().loadAs(compareKind, 'latest')).record).toEqual(record);
    },
  );

  it.each(['EACCES', 'EROFS', 'EIO'])(
    'on %s says that it cannot write, and leaves nothing behind',
    async (code) => {
      const error = await errorOf(storeIn('results', failingWrites(code)).saveAs(compareKind, record));
      expect(error.code).toBe('E_WRITE_FAILED');
      expect(error.message).toContain(code);
      expect(await readdir(join(directory, 'results', record.id))).toEqual([]);
    },
  );

  it('says that it cannot write where the results directory is a file', async () => {
    await writeFile(join(directory, 'results'), '');
    const store = storeIn();
    expect((await errorOf(store.saveAs(compareKind, record))).code).toBe('E_WRITE_FAILED');
    expect((await errorOf(store.makeRawDirectory(store.directoryOf(record.id)))).code).toBe('E_WRITE_FAILED');
  });

  it('refuses a record that breaks its own schema and keeps what was saved before', async () => {
    const store = storeIn();
    await store.saveAs(compareKind, record);
    const error = await errorOf(
      store.saveAs(compareKind, {
        ...record,
        environment: { ...record.environment, loadAverage: Number.NaN },
      }),
    );
    expect(error.code).toBe('E_INTERNAL');
    expect(error.evidence.join()).toContain('environment.loadAverage');
    expect((await store.loadAs(compareKind, 'latest')).record).toEqual(record);
  });

  it('writes reports and raw output into the folder of the run', async () => {
    const store = storeIn();
    const raw = await store.makeRawDirectory(store.directoryOf(record.id));
    expect(raw).toBe(join(store.directoryOf(record.id), 'raw'));
    const path = await store.writeBeside(store.directoryOf(record.id), 'report.md', '# Report\n');
    expect(await readFile(path, 'utf8')).toBe('# Report\n');
  });

  it('keeps short things on one line, so that the file can be read', async () => {
    const store = storeIn();
    await store.saveAs(compareKind, record);
    const text = await readFile(join(store.directoryOf(record.id), 'run.json'), 'utf8');
    expect(text).toContain('"intervals": [{ "atSeconds": 1, "qps": 100 }]');
    expect(JSON.parse(text)).toEqual(record);
  });
});

describe('loading', () => {
  const ids = ['20261120-000000-aaaa', '20261121-015012-3f9a', '20261121-015013-0000'];

  async function withRuns() {
    const store = storeIn();
    for (const id of ids) await store.saveAs(compareKind, { ...record, id });
    return store;
  }

  it('finds a run by latest, id, folder and file', async () => {
    const store = await withRuns();
    const path = join('results', '20261120-000000-aaaa');
    const loadedId = async (reference: string) => (await store.loadAs(compareKind, reference)).record.id;
    expect(await loadedId('latest')).toBe('20261121-015013-0000');
    expect(await loadedId('20261121-015012-3f9a')).toBe('20261121-015012-3f9a');
    expect(await loadedId(path)).toBe('20261120-000000-aaaa');
    expect(await loadedId(join(directory, path, 'run.json'))).toBe('20261120-000000-aaaa');
    expect(await store.list()).toEqual(ids);
  });

  it('does not take the reference run or a folder without a record for the latest', async () => {
    const store = await withRuns();
    await store.saveAs(compareKind, record, join(store.resultsDirectory, 'reference'));
    await mkdir(join(store.resultsDirectory, '20261231-000000-ffff'));
    expect((await store.loadAs(compareKind, 'latest')).record.id).toBe('20261121-015013-0000');
    expect((await store.loadAs(compareKind, 'reference')).record.id).toBe(record.id);
    expect(await store.list()).toEqual(ids);
  });

  it('says where it looked for a run that is not there', async () => {
    for (const reference of ['latest', 'no-such-run', '20261120', '']) {
      const error = await errorOf(storeIn('elsewhere').loadAs(compareKind, reference));
      expect(error.code).toBe('E_RECORD_UNREADABLE');
      expect(error.message).toContain(join(directory, 'elsewhere'));
    }
  });

  it('says why a file cannot be read', async () => {
    const store = await withRuns();
    const { fs } = realWorld();
    const unreadable: FileSystem = {
      ...fs,
      readFile: (() => Promise.reject(systemError('EACCES'))) as unknown as FileSystem['readFile'],
    };
    const error = await errorOf(storeIn('results', unreadable).loadAs(compareKind, 'latest'));
    expect(error.code).toBe('E_RECORD_UNREADABLE');
    expect(error.message).toContain('EACCES');
    expect(await store.list()).toHaveLength(3);
  });
});

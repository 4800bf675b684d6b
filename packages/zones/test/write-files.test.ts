import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RenderedFile, writeFiles, ZonesError } from '../src/index.ts';
import { temporaryDirectory } from './support/servers.ts';

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const file = (path: string, ...chunks: string[]): RenderedFile => ({ path, chunks });

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: unknown) => error,
  );
}

function* failingAfter(text: string): Generator<string> {
  yield text;
  throw new Error('out of text');
}

it('writes files, creates their directories, and returns paths and sizes', async () => {
  const target = join(directory, 'a/b');
  const written = await writeFiles(target, [file('one', 'hel', 'lo'), file('sub/two', 'ü')]);
  expect(written).toEqual([
    { path: join(target, 'one'), bytes: 5 },
    { path: join(target, 'sub/two'), bytes: 2 },
  ]);
  expect(await readFile(join(target, 'one'), 'utf8')).toBe('hello');
  expect(await readdir(target)).toEqual(['one', 'sub']);
});

it('replaces existing files', async () => {
  await writeFile(join(directory, 'one'), 'old');
  await writeFiles(directory, [file('one', 'new')]);
  expect(await readFile(join(directory, 'one'), 'utf8')).toBe('new');
  expect(await readdir(directory)).toEqual(['one']);
});

it('leaves nothing when the text fails in the middle of the second file', async () => {
  const target = join(directory, 'made');
  const error = await failureOf(
    writeFiles(target, [file('one', 'new'), { path: 'two', chunks: failingAfter('half') }]),
  );
  expect(error).toEqual(new Error('out of text'));
  expect(await readdir(directory)).toEqual([]);
});

it('keeps the old files when the text fails', async () => {
  await writeFile(join(directory, 'one'), 'old');
  await failureOf(writeFiles(directory, [file('one', 'new'), { path: 'two', chunks: failingAfter('half') }]));
  expect(await readFile(join(directory, 'one'), 'utf8')).toBe('old');
  expect(await readdir(directory)).toEqual(['one']);
});

it('undoes the first file when the second cannot be put in place', async () => {
  await writeFile(join(directory, 'one'), 'old');
  // The second target becomes a directory after it was checked, while its text is generated.
  function* meddling(): Generator<string> {
    yield 'text';
    void mkdir(join(directory, 'two'));
  }
  const slow = { path: 'two', chunks: meddling() };
  const error = await failureOf(
    writeFiles(directory, [file('one', 'new'), slow, file('three', 'x'.repeat(1e6))]),
  );
  expect(error).toMatchObject({ code: 'E_WRITE_FAILED', exitStatus: 7 });
  expect(await readFile(join(directory, 'one'), 'utf8')).toBe('old');
  expect(await readdir(directory)).toEqual(['one', 'two']);
});

it('stops when it is aborted, and leaves nothing', async () => {
  const controller = new AbortController();
  function* endless(): Generator<string> {
    for (let count = 0; ; count++) {
      if (count === 3) controller.abort(new Error('enough'));
      yield 'more and more\n';
    }
  }
  const error = await failureOf(
    writeFiles(directory, [{ path: 'one', chunks: endless() }], { signal: controller.signal }),
  );
  expect(error).toEqual(new Error('enough'));
  expect(await readdir(directory)).toEqual([]);
});

it.each([
  [
    'a part of the path is a file',
    async () => writeFile(join(directory, 'x'), ''),
    'x/y/one',
    /another directory/,
  ],
  ['the target is a directory', async () => mkdir(join(directory, 'one')), 'one', /name of a file/],
  ['the name is too long', async () => undefined, 'x'.repeat(300), /shorter path/],
])('says what to do when %s', async (_, prepare, path, fix) => {
  await prepare();
  const error = await failureOf(writeFiles(directory, [file(path, 'text')]));
  expect(error).toBeInstanceOf(ZonesError);
  expect(error).toMatchObject({ code: 'E_WRITE_FAILED', exitStatus: 7, fix: expect.stringMatching(fix) });
});

it('does not hang on a file system that allows no new directories', async () => {
  const error = await failureOf(writeFiles('/proc/dinodns-zones/x', [file('one', 'text')]));
  expect(error).toMatchObject({ code: 'E_WRITE_FAILED' });
});

it('does not replace a device with a file', async () => {
  const error = await failureOf(writeFiles('/dev', [file('null', 'text')]));
  expect(error).toMatchObject({ code: 'E_WRITE_FAILED' });
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
});

it('replaces a link and leaves its target alone', async () => {
  await writeFile(join(directory, 'real'), 'old');
  await symlink('real', join(directory, 'one'));
  await writeFiles(directory, [file('one', 'new')]);
  expect(await readFile(join(directory, 'real'), 'utf8')).toBe('old');
  expect(await readFile(join(directory, 'one'), 'utf8')).toBe('new');
});

it('rejects paths that lead out of the directory', async () => {
  await expect(writeFiles(directory, [file('../one', 'x')])).rejects.toThrow('not a path below');
  expect(await readdir(directory)).toEqual([]);
});

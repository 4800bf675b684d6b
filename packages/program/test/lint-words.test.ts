import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('the words of the spell check are sorted, each there once', async () => {
  const text = await readFile(new URL('../../../lint/words.txt', import.meta.url), 'utf8');
  const words = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(words).toEqual([...new Set(words)].toSorted());
});

/** The documentation of the differences from other servers. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RULES } from './rules.ts';

test('docs/differences.md explains every rule, and nothing else', async () => {
  const text = await readFile(new URL('../../docs/differences.md', import.meta.url), 'utf8');
  const explained = Array.from(text.matchAll(/^## `([a-z-]+)`/gm), ([, name]) => name);
  expect(explained.sort()).toEqual(Object.keys(RULES).sort());
});

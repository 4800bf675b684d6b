/** The program and the commands of the README do what they say. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { defineCluster, INTERNAL_MIX } from '../src/index.ts';

const run = promisify(execFile);
const packageDirectory = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

it('the program of the README runs and its comments are true', async () => {
  const [, program = ''] = /```js\n(.*?)```/s.exec(readme) ?? [];
  const checked = program.replace(/^(.*); \/\/ (.*)$/gm, 'deepStrictEqual($1, $2);');
  expect(checked.match(/deepStrictEqual\(/g)).toHaveLength(5);
  const code = `import { deepStrictEqual } from 'node:assert';\n${checked}\nconsole.log('done');`;
  const args = ['--input-type=module', '--eval', code];
  expect((await run(process.execPath, args, { cwd: packageDirectory })).stdout).toBe('done\n');
});

it('the table of the README has every key of a cluster with its default', () => {
  const { endpoints: _derived, ...spec } = defineCluster().spec;
  for (const [key, value] of Object.entries(spec)) {
    const shown = typeof value === 'number' ? value.toLocaleString('en') : String(value);
    expect(readme).toMatch(new RegExp(`^\\| \`${key}\` \\| \`?${shown}\`? \\|`, 'm'));
  }
});

it('the mix of the README is the mix', () => {
  const sentence = /The mix, in percent:(.*?)\./s.exec(readme)?.[1] ?? '';
  const shares = [...sentence.matchAll(/ (\d+)(?=[,;]|$)/g)].map(([, share]) => Number(share));
  expect(shares).toEqual(Object.values(INTERNAL_MIX));
});

it('the Corefile command of the README prints a Corefile', async () => {
  const [, flags = ''] = /^dinodns-cluster corefile (.*) > Corefile$/m.exec(readme) ?? [];
  const { stdout } = await run(process.execPath, ['src/cli.ts', 'corefile', ...flags.split(' ')], {
    cwd: packageDirectory,
  });
  expect(stdout).toContain('endpoint http://127.0.0.1:8001');
  expect(stdout).not.toContain('lameduck');
});

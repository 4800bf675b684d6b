/** The commands and the program of the README run as shown. */
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formats } from '../src/index.ts';
import { temporaryDirectory } from './support/servers.ts';

const run = promisify(execFile);
const packageDirectory = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const commands = blocks('sh')
  .flatMap((text) => text.split('\n'))
  .filter((line) => line.startsWith('dinodns-zones '));

describe('the commands of the README', () => {
  it('exist', () => expect(commands.length).toBeGreaterThan(4));

  it.each(commands)('%s', async (command) => {
    const script = `dinodns-zones() { "$0" "$1/src/cli.ts" "\${@:2}"; }; ${command.replace('dinodns-zones', 'dinodns-zones "$1"')}`;
    const { stdout } = await run('bash', ['-c', script, process.execPath, packageDirectory], {
      cwd: directory,
    });
    expect(stdout).not.toBe('');
  });
});

it('the program of the README runs and its comments are true', async () => {
  const [program = ''] = blocks('js');
  const checked = program
    .replace('/srv/zones', directory)
    .replaceAll("writeFiles('out'", `writeFiles(${JSON.stringify(directory)}`)
    .replace(/^(zoneSet\..*); \/\/ (.*)$/gm, 'deepStrictEqual($1, $2);');
  expect(checked.match(/deepStrictEqual\(/g)).toHaveLength(5);
  const code = `import { deepStrictEqual } from 'node:assert';\n${checked}\nconsole.log('done');`;
  // From the package's own directory, where its name resolves to itself.
  const args = ['--input-type=module', '--eval', code];
  expect((await run(process.execPath, args, { cwd: packageDirectory })).stdout).toBe('done\n');
});

it('the README lists every format with its files', () => {
  const rows = readme.replace(/ +/g, ' ');
  for (const { name, files } of formats) {
    expect(rows).toContain(`| \`${name}\` | ${files.map((file) => `\`${file}\``).join(', ')} |`);
  }
});

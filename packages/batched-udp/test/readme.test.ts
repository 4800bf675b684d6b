/** The examples of the README run as they stand and print what their comments say. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
const native = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

it('has two examples', () => expect(examples).toHaveLength(2));

describe.each(examples.map((code, i) => ({ code, i })))('example $i', ({ code }) => {
  it('runs and prints what it says', async () => {
    const expected = [...code.matchAll(/console\.log\(.*?\); \/\/ (.*)/g)].map(([, text = '']) => text);
    // A port that is free for sure, in place of the one in the text.
    const free = code.replace('port: 5300,', 'port: 0,');
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', free], { cwd });
    const seen = stdout.trim().split('\n');
    expect(
      seen.map((line) =>
        line.replace(/port: \d+/, 'port: 5300').replace(/^dgram/, native ? 'dgram' : 'native'),
      ),
    ).toEqual(expected);
  });
});

it('documents every option', () => {
  const contract = readFileSync(new URL('../src/socket.ts', import.meta.url), 'utf8');
  const options = /export interface UdpSocketOptions \{(.*?)\n\}/s.exec(contract)?.[1] ?? '';
  const names = [...options.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) expect(readme).toContain(`\`${name}\``);
});

/** Every `--help` of every program and command fits a terminal of 80 columns, also where there is no terminal. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { flagName, type SettingTable } from '../src/config/setting.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { tableOf } from '../src/engine/settings.ts';
import { DISRUPT_SETTINGS } from '../src/experiments/disrupt/settings.ts';
import { LOOKUP_SETTINGS } from '../src/experiments/lookup/settings.ts';
import { SWAP_SETTINGS } from '../src/experiments/swap/settings.ts';
import { testWorld } from './support/test-world.ts';

/** What `--help` prints after these words. */
type HelpOf = (...command: string[]) => Promise<string>;

/** The help of a command and of all below it, as each lists them, by their words. */
async function helpsBelow(helpOf: HelpOf, command: string[] = []): Promise<Map<string, string>> {
  const help = await helpOf(...command);
  const found = new Map([[command.join(' '), help]]);
  const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
  for (const [, name = ''] of list.matchAll(/^ {2}([a-z][a-z-]*)/gm)) {
    if (name === 'help') continue;
    for (const [words, text] of await helpsBelow(helpOf, [...command, name])) found.set(words, text);
  }
  return found;
}

/** A line of one word, such as the name of an image, cannot be wrapped. */
const tooLong = (text: string) =>
  text.split('\n').filter((line) => [...line].length > 80 && !/^ *\S+$/.test(line));

it.each([
  ['dinodns-cluster', 'cluster-objects', 6],
  ['dinodns-zones', 'zones', 4],
  ['dinodns-server', 'server-cluster', 1],
  ['dnscannon', 'load', 1],
  ['udp-echo', 'batched-udp', 1],
])('the help of %s', async (name, folder, commands) => {
  const program = fileURLToPath(new URL(`../../${folder}/bin/${name}.js`, import.meta.url));
  const helps = await helpsBelow(async (...command) => {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...command, '--help']);
    return stdout;
  });
  expect(tooLong([...helps.values()].join('\n'))).toEqual([]);
  expect(helps.size).toBe(commands);
});

it('the help of bench, and of all its commands', async () => {
  const world = await testWorld();
  const shown = async (...words: string[]) => {
    const before = world.out().length;
    expect(await world.bench(...words), words.join(' ')).toBe(0);
    return world.out().slice(before);
  };
  try {
    const helps = await helpsBelow((...command) => shown(...command, '--help'));
    const names = ['run', 'matrix', 'capacity memory', 'swap restore', 'history tag', 'gate'];
    expect([...helps.keys()]).toEqual(expect.arrayContaining(names));
    const tables = {
      run: SETTINGS,
      matrix: SETTINGS,
      swap: SWAP_SETTINGS,
      lookup: LOOKUP_SETTINGS,
      disrupt: DISRUPT_SETTINGS,
    };
    const whole: string[] = [];
    for (const [name, table] of Object.entries<SettingTable>(tables)) {
      const help = await shown(name, '--help-all');
      const flagsIn = (text = '') =>
        text.match(/^ {2}(?:-\w, )?--[a-z0-9-]+/gm)?.map((flag) => flag.trim()) ?? [];
      expect(flagsIn(help), name).toEqual(
        expect.arrayContaining(Object.values(tableOf(table)).map(flagName)),
      );
      expect(flagsIn(helps.get(name)).length, name).toBeLessThan(0.75 * flagsIn(help).length);
      expect(helps.get(name), name).toMatch(/^Trials:$[\s\S]*^Cluster:$[\s\S]*^Output:$[\s\S]*^Examples:$/m);
      whole.push(help);
    }
    expect(tooLong([...helps.values(), ...whole].join('\n'))).toEqual([]);
    // They show all that they have.
    for (const name of ['canary', 'restore', 'status']) {
      expect(helps.get(`swap ${name}`), name).toMatch(/-h, --help +display help for command$/m);
      expect(await shown('swap', name, '--help-all'), name).toBe(helps.get(`swap ${name}`));
    }
    const examples = [...helps].filter(([, help]) => help.includes('DINODNS_BENCH_<NAME>'));
    expect(examples.map(([words]) => words)).toEqual(
      expect.arrayContaining(['run', 'swap', 'capacity plan']),
    );
    for (const [words, help] of examples) {
      const [, name = ''] = /\(DINODNS_BENCH_(\w+)\)/.exec(help) ?? [];
      expect(help, words).toMatch(new RegExp(`^ +--${name.toLowerCase().replaceAll('_', '-')} <`, 'm'));
    }
    expect(helps.get('capacity plan')).toMatch(/^ {2}9 +with --verify: /m);
    expect(helps.get('capacity plan')).not.toMatch(/^ {2}8 /m);
  } finally {
    await world.remove();
  }
});

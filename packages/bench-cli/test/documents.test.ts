/** What the documents list is what the program has: commands, servers and workloads. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { buildCommand } from '../../load/src/cli/flags.ts';
import { addGenerate } from '../../zones/src/cli/generate.ts';
import { addListFormats } from '../../zones/src/cli/list-formats.ts';
import type { CliWorld } from '../../zones/src/cli/options.ts';
import { addQueries } from '../../zones/src/cli/queries.ts';
import { callOf } from '../src/cli.ts';
import { COMMANDS } from '../src/commands/listed.ts';
import { PUBLICATIONS } from '../src/history/published.ts';
import { serverNames } from '../src/servers/registry.ts';
import { GENERATED_CLUSTER_WORKLOADS } from '../src/workload/cluster-names.ts';
import { NAMED_WORKLOADS } from '../src/workload/named.ts';
import { realWorld } from '../src/world.ts';
import { testWorld } from './support/test-world.ts';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'k8s/README.md',
  'results/README.md',
  ...readdirSync(new URL('docs/', ROOT)).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
  ...readdirSync(new URL('packages/', ROOT)).map((name) => `packages/${name}/README.md`),
].filter((path) => existsSync(new URL(path, ROOT)));

/** Names in backquotes in the first column of the table under this heading. */
function firstColumn(page: string, heading: string): string[] {
  const section =
    read(page)
      .split(/^#{1,2} /m)
      .find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  );
}

it('docs/servers.md lists every server and variant, and no other', () => {
  expect(firstColumn('docs/servers.md', 'Servers').toSorted()).toEqual(serverNames().toSorted());
});

it('docs/axes.md lists every workload, and no other', () => {
  const listed = firstColumn('docs/axes.md', 'Workloads').filter((name) => !name.startsWith('FILE'));
  const known = [...NAMED_WORKLOADS, ...GENERATED_CLUSTER_WORKLOADS, 'lookup'];
  expect(listed.toSorted()).toEqual(known.toSorted());
});

it.each(PAGES)('%s names no command that bench does not have', (page) => {
  const known = COMMANDS.map(({ usage }) => usage.split(' ')[0]);
  const named = [
    ...read(page).matchAll(
      /(?:^ {4}|`|&& )(?:sudo )?(?:npx -y )?(?:pnpm(?:@10)? )?bench ([a-z][a-z0-9-]*)/gm,
    ),
  ];
  for (const [text, command] of named) expect(known, text).toContain(command);
});

/** The flags of a command and of those below it, by their words: `capacity memory`; '' for the program itself. */
function flagsIn(command: Command, words: readonly string[] = []): [string, readonly string[]][] {
  const own = command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null));
  return [
    [words.join(' '), own],
    ...command.commands.flatMap((each) => flagsIn(each, [...words, each.name()])),
  ];
}

async function benchFlags(): Promise<Map<string, readonly string[]>> {
  const flags: [string, readonly string[]][] = [];
  for (const { load } of COMMANDS) {
    // Some are added by the same function.
    const program = new Command();
    const addTo = await load();
    await addTo(program, callOf(realWorld(), []));
    flags.push(...flagsIn(program));
  }
  return new Map(flags);
}

function zonesFlags(): Map<string, readonly string[]> {
  const program = new Command();
  const nowhere: CliWorld = { ...process, cwd: '/', signal: new AbortController().signal };
  for (const add of [addGenerate, addQueries, addListFormats]) add(program, nowhere);
  return new Map(flagsIn(program));
}

/** After what it is called by, up to the end of the command. */
const commandsOf = (name: string) =>
  new RegExp(
    `(?:^ *|\`|&& )(?:sudo )?(?:npx (?:-y )?(?:-p \\S+ )?)?(?:pnpm(?:@10)? )?(?:${name}) ([^\`\\n#|;&>]*)`,
    'gm',
  );

it.each([
  ['bench', benchFlags, 100],
  ['zones|dinodns-zones', zonesFlags, 10],
  ['cannon|dnscannon', () => new Map(flagsIn(buildCommand())), 10],
])('no page gives a command of %s a flag that it does not have', async (name, flagsOf, least) => {
  const flags = await flagsOf();
  const everywhere = ['--help', '-h', '--help-all', '--version'];
  let checked = 0;
  for (const page of PAGES) {
    for (const [text, rest = ''] of read(page)
      .replaceAll(/\\\n\s*/g, ' ')
      .matchAll(commandsOf(name))) {
      const words = rest.trim().split(/\s+/);
      // Without a command, it is `bench run`.
      const isRun = name === 'bench' && rest.startsWith('--');
      const [first = '', second = ''] = isRun ? ['run', ...words] : words;
      const command = [`${first} ${second}`, first, ''].find((each) => flags.has(each)) ?? '';
      for (const word of words) {
        const [, flag] = /^\[?(--?[a-zA-Z][a-z0-9-]*)/.exec(word) ?? [];
        if (flag === undefined) continue;
        checked += 1;
        expect([...(flags.get(command) ?? []), ...everywhere], `${page}: ${text}`).toContain(flag);
      }
    }
  }
  expect(checked).toBeGreaterThan(least);
});

it('docs/publications.md gives commands that bench accepts, up to what only a cluster or a run can say', async () => {
  const lines = [...read('docs/publications.md').matchAll(/^ {4}pnpm bench ([^#\n]*)/gm)];
  expect(lines.length).toBeGreaterThanOrEqual(PUBLICATIONS.length * 2);
  const accepted: readonly number[] = [EXIT_STATUS.success, EXIT_STATUS.environment, EXIT_STATUS.record];
  for (const [text, words = ''] of lines) {
    const argv = words.trim().split(' ');
    const world = await testWorld();
    try {
      const status = await world.bench(...argv, ...(argv[0] === 'reproduce' ? [] : ['--dry-run']));
      expect(accepted, `${text}: ${world.err()}`).toContain(status);
    } finally {
      await world.remove();
    }
  }
});

it('the README has at most 1,300 words', () => {
  const readme = read('README.md');
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1300);
});

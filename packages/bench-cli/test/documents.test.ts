/** What the documents list is what the program has: commands, servers and workloads. */
import { readdirSync, readFileSync } from 'node:fs';
import { EXIT_STATUS } from '@dinodns-bench/program';
import { Command } from 'commander';
import { expect, it } from 'vitest';
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
];

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

/** Every command with its flags, by its words: `capacity memory`. */
async function flagsOfCommands(): Promise<Map<string, readonly string[]>> {
  const flags = new Map<string, readonly string[]>();
  const add = (command: Command, words: readonly string[]) => {
    flags.set(
      words.join(' '),
      command.options.flatMap(({ long }) => long ?? []),
    );
    for (const each of command.commands) add(each, [...words, each.name()]);
  };
  for (const { load } of COMMANDS) {
    const program = new Command();
    const addTo = await load();
    await addTo(program, { world: realWorld(), argv: [], exitStatusHelp: '', status: 0 });
    add(program, []);
  }
  return flags;
}

it('no page gives a command a flag that it does not have', async () => {
  const flags = await flagsOfCommands();
  const everywhere = ['--help', '--help-all', '--version'];
  let checked = 0;
  for (const page of PAGES) {
    const given = read(page)
      .replaceAll(/\\\n\s*/g, ' ')
      .matchAll(/(?:^ {4}|`|&& )(?:sudo )?(?:npx -y )?(?:pnpm(?:@10)? )?bench ((?:--)?[a-z][^`\n#|;&>]*)/gm);
    for (const [text, rest = ''] of given) {
      const words = rest.trim().split(/\s+/);
      // Without a command, it is `bench run`.
      const [name = '', part = '', ...others] = rest.startsWith('--') ? ['run', ...words] : words;
      const command = flags.has(`${name} ${part}`) ? `${name} ${part}` : name;
      const known = flags.get(command) ?? [];
      for (const word of [part, ...others]) {
        const [, flag] = /^\[?(--[a-z][a-z-]*)/.exec(word) ?? [];
        if (flag === undefined) continue;
        checked += 1;
        expect([...known, ...everywhere], `${page}: ${text}`).toContain(flag);
      }
    }
  }
  expect(checked).toBeGreaterThan(100);
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

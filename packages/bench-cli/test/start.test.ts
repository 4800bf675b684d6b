/** A command loads what it needs and no more: that decides how long it takes to start. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { callOf } from '../src/cli.ts';
import { COMMANDS } from '../src/commands/listed.ts';
import { realWorld } from '../src/world.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const RECORD = fileOf('../../../results/reference/local-tier1-both');

/** The URLs of the modules that `bench` loads for a command line. */
function modulesFor(argv: readonly string[]): readonly string[] {
  const { stderr } = spawnSync(
    process.execPath,
    ['--import', fileOf('support/loaded-modules.mjs'), fileOf('../bin/bench.js'), ...argv],
    { encoding: 'utf8', cwd: fileOf('fixtures/records') },
  );
  return JSON.parse(stderr.split('\n').at(-1) ?? '');
}

describe('bench', () => {
  it.each([['--version'], ['--help'], ['help'], ['run', '--version']])(
    'loads less than 60 modules for %s',
    (...argv) => {
      const modules = modulesFor(argv);
      expect(modules.length).toBeGreaterThan(10);
      expect(modules.length).toBeLessThan(60);
    },
  );

  it.each([
    ['a wrong flag', ['--teir', '1']],
    ['a wrong flag of each experiment', ['loss', '--teir', '1']],
    ['a plan', ['run', '--dry-run']],
    ['the history', ['history', '--kind', 'published']],
    ['a report on the terminal', ['report', RECORD, '--format', 'terminal']],
  ])('draws nothing, starts nothing and asks no cluster for %s', (_what, argv) => {
    const modules = modulesFor(argv);
    expect(modules.length).toBeGreaterThan(60);
    expect(
      modules.filter((url) => /\/(?:vega|vega-lite|@resvg|@kubernetes|protobufjs|execa)\//.test(url)),
    ).toEqual([]);
  });
});

describe('the list of commands', () => {
  it.each(COMMANDS)('says of $usage what its flags say', async ({ usage, load }) => {
    const program = new Command();
    const add = await load();
    await add(program, callOf(realWorld(), []));
    const help = program.createHelp();
    const terms = program.commands.map((command) => help.subcommandTerm(command));
    expect(terms).toContain(usage);
  });

  it('has every command that comes with them', async () => {
    const names = new Set<string>();
    for (const { load } of COMMANDS) {
      const program = new Command();
      const add = await load();
      await add(program, callOf(realWorld(), []));
      for (const command of program.commands) names.add(command.name());
    }
    expect(COMMANDS.map(({ usage }) => usage.split(' ')[0]).toSorted()).toEqual([...names].toSorted());
  });
});

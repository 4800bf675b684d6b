/** Refuses variables that look like settings and are none: a misspelt one would do nothing. */
import { nearest } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { OTHER_VARIABLES, SETTING_NAMES, variableOf } from '../config/settings.ts';
import type { AddCommands, Call } from '../engine/registered.ts';
import { BenchError } from '../errors.ts';
import { EXPERIMENT_COMMANDS } from '../experiments/registry.ts';

/** Flags that cannot come from the environment. */
const ONLY_FLAGS = ['config', 'preset', 'resume', 'dryRun', 'json', 'helpAll'];

function variablesOf(command: Command): string[] {
  const names = command.options.map((option) => option.attributeName());
  const own = names.filter((name) => !ONLY_FLAGS.includes(name)).map(variableOf);
  return [...own, ...command.commands.flatMap(variablesOf)];
}

/** Those of all experiments. Loads them. */
async function experimentVariables(added: Command, call: Call): Promise<string[]> {
  const found: string[] = variablesOf(added);
  const loaders = new Set(EXPERIMENT_COMMANDS.map(({ load }) => load));
  for (const load of loaders) {
    const program = added.createCommand();
    const add: AddCommands = await load();
    await add(program, call);
    found.push(...variablesOf(program));
  }
  return found;
}

/**
 * @param added with the commands of users' experiments
 * @throws BenchError `E_CONFIG`
 */
export async function demandKnownVariables(added: Command, call: Call): Promise<void> {
  const prefix = variableOf('');
  const shared = [...SETTING_NAMES.map(variableOf), ...OTHER_VARIABLES];
  const others = Object.keys(call.world.env).filter(
    (name) => name.startsWith(prefix) && !shared.includes(name),
  );
  if (others.length === 0) return;
  const known = [...shared, ...(await experimentVariables(added, call))];
  const unknown = others.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const near = unknown.map((name) => {
    const suggestion = nearest(
      name.slice(prefix.length),
      known.map((each) => each.slice(prefix.length)),
    );
    return suggestion === undefined ? `Unset ${name}.` : `Did you mean ${prefix}${suggestion}?`;
  });
  throw new BenchError('E_CONFIG', `unknown variable ${unknown.join(', ')}`, {
    fix: `${near.join(' ')} \`bench run --help-all\` lists all settings.`,
  });
}

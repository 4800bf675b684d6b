/** The settings of an experiment: its own, those it shares with others, and those that the engine adds. */
import {
  parseConfigurationFile,
  resolveSettings,
  unreadableConfiguration,
  wordsFor,
} from '../config/configuration.ts';
import { idleVariables } from '../config/cross-checks.ts';
import type { Setting, SettingsOf, SettingTable } from '../config/setting.ts';
import { SETTINGS, type SettingName } from '../config/settings.ts';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';

type Changed<S extends Setting, C> = Omit<S, keyof C> & C;
type Changes<Names extends SettingName> = {
  readonly [N in Names]?: Partial<Pick<Setting, 'default' | 'description' | 'needs' | 'targets'>>;
};
type Picked<Names extends SettingName, C> = {
  readonly [N in Names]: N extends keyof C ? Changed<(typeof SETTINGS)[N], C[N]> : (typeof SETTINGS)[N];
};

/** Shared settings, with another default, description, need or target where they mean something else here. */
export function pick<const Names extends SettingName, const C extends Changes<Names>>(
  names: readonly Names[],
  changes: C = {} as C,
): Picked<Names, C> {
  const given: Readonly<Record<string, object | undefined>> = changes;
  // The types say the same.
  return Object.fromEntries(names.map((name) => [name, { ...SETTINGS[name], ...given[name] }])) as Picked<
    Names,
    C
  >;
}

/** Settings that have an effect on one target only. */
export function only<const T extends SettingTable>(target: 'local' | 'kubernetes', table: T): T {
  const limited = Object.entries(table).map(([name, setting]) => [name, { ...setting, targets: [target] }]);
  // With the same schemas and defaults.
  return Object.fromEntries(limited) as T;
}

/** What every experiment has. An experiment that lists one of them changes its default or its description. */
export const ENGINE_SETTINGS = pick(['trials', 'until', 'maxTrials', 'maxTime', 'aa', 'interval', 'out']);
/** Those about trials, for the help. */
export const TRIAL_NAMES = ['trials', 'until', 'maxTrials', 'maxTime', 'aa', 'interval'] as const;
export type EngineSettings = SettingsOf<typeof ENGINE_SETTINGS>;

/** All settings of an experiment, in the order of its help. */
export function tableOf<T extends SettingTable>(own: T): T & Omit<typeof ENGINE_SETTINGS, keyof T> {
  return { ...ENGINE_SETTINGS, ...own };
}

/** The settings of an experiment below headings of its help, by their names; `others` are all that no heading names. */
export function grouped<T extends SettingTable>(
  own: T,
  headings: Readonly<Record<string, readonly (keyof T | keyof EngineSettings)[] | 'others'>>,
): Readonly<Record<string, SettingTable>> {
  const settings = Object.entries(tableOf(own));
  const named = Object.values(headings).flatMap((names) => (names === 'others' ? [] : names));
  const others = settings.map(([name]) => name).filter((name) => !named.includes(name));
  const groups = Object.entries(headings).map(([heading, listed]) => {
    const names = listed === 'others' ? others : listed;
    const below = names.flatMap((name) => settings.filter(([each]) => each === name));
    return [heading, Object.fromEntries(below)] as const;
  });
  return Object.fromEntries(groups);
}

/** What was typed. */
export interface GivenSettings {
  readonly flags: Readonly<Record<string, unknown>>;
  /** `--config` */
  readonly file: string | undefined;
  /** Defaults of an invocation that differ from those of the settings. */
  readonly base?: Readonly<Record<string, unknown>>;
  /** `--preset`, where the command has it. */
  readonly preset?: string | undefined;
}

/** @throws BenchError `E_CONFIG` */
export async function readConfigurationFile(world: World, path: string | undefined) {
  if (path === undefined) return undefined;
  try {
    const text = await world.fs.readFile(path.startsWith('/') ? path : `${world.cwd}/${path}`, 'utf8');
    return { path, values: await parseConfigurationFile(path, text) };
  } catch (error) {
    throw error instanceof BenchError ? error : unreadableConfiguration(path, error);
  }
}

/** A note for each variable that changes nothing. */
export function noteIdleVariables(
  { env, stderr }: Pick<World, 'env' | 'stderr'>,
  command: string,
  table: SettingTable,
  settings: Readonly<Record<string, unknown>>,
): void {
  for (const line of idleVariables(table, env, settings, command)) stderr.write(`Note: ${line}.\n`);
}

/**
 * With a note on stderr for each variable without effect.
 * @throws BenchError `E_CONFIG` with every problem
 */
export async function decideSettings<T extends SettingTable>(
  world: World,
  command: string,
  table: T,
  { flags, file, base = {}, preset }: GivenSettings,
): Promise<SettingsOf<T>> {
  const sources = { base, preset, file: await readConfigurationFile(world, file), env: world.env, flags };
  const settings = resolveSettings(table, sources, command);
  noteIdleVariables(world, command, table, settings);
  return settings;
}

/** As `decideSettings`, from a record. */
export function settingsAgain<T extends SettingTable>(
  command: string,
  table: T,
  { id, settings }: { readonly id: string; readonly settings: Readonly<Record<string, unknown>> },
): SettingsOf<T> {
  return resolveSettings(
    table,
    { file: { path: `${id}/run.json`, values: settings }, env: {}, flags: {} },
    command,
  );
}

/** The words after `bench`. */
export function commandName({ name, command = name }: { readonly name: string; readonly command?: string }) {
  return command;
}

/** The command that makes the same run again. */
export function commandOf(command: string, table: SettingTable, settings: Readonly<Record<string, unknown>>) {
  return ['pnpm', 'bench', ...command.split(' '), ...wordsFor(table, settings)];
}

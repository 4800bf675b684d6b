/** The settings of a run as flags, for the commands that need them. */
import { type Command, Option } from 'commander';
import { PRESETS } from '../config/presets.ts';
import { flagName, type Setting, shownValue } from '../config/setting.ts';
import { SETTING_GROUPS, SETTING_NAMES, SETTINGS, type SettingName } from '../config/settings.ts';
import { shownDefault } from '../config/short-run.ts';
import type { Call } from '../engine/registered.ts';

/** What the help of a command shows of the settings. All of them are taken. */
export interface SettingsView {
  /** Default: those that are not rare. */
  readonly shown?: readonly SettingName[];
  /** The defaults of the command where they differ from those of a cluster; without it, those of `bench run`. */
  readonly base?: Readonly<Record<string, unknown>>;
}

const HELP_ALL = '--help-all';

function hint(name: string, setting: Setting, base: SettingsView['base']): string {
  const value = base?.[name] ?? setting.default;
  if (value === undefined || typeof value === 'boolean' || setting.description.includes('default:'))
    return '';
  return ` (default: ${base === undefined ? shownDefault(name, setting) : shownValue(setting, value)})`;
}

/** The settings that were given on the command line, under their names; commander's own defaults are unused. */
export function settingsFrom(values: Record<string, unknown>): Partial<Record<SettingName, unknown>> {
  const entries = SETTING_NAMES.flatMap((name) => {
    const value = values[name];
    // commander sets a negatable flag to true when it was not given.
    const isNegated = flagName(SETTINGS[name]).startsWith('--no-');
    const given = isNegated ? value === false : value !== undefined;
    return given ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Adds the flags of all settings in their groups, a preset and a file; `--help-all` shows what `--help` leaves out. */
export function addRunSettings(
  command: Command,
  { argv }: Call,
  { shown, base }: SettingsView = {},
): Command {
  const names: readonly string[] | undefined = shown;
  const isShown = (name: string, { rare }: Setting) => names?.includes(name) ?? rare === undefined;
  for (const [group, settings] of Object.entries(SETTING_GROUPS)) {
    command.optionsGroup(`${group}:`);
    for (const [name, setting] of Object.entries(settings)) {
      const option = new Option(setting.flag, setting.description + hint(name, setting, base));
      command.addOption(option.hideHelp(!(argv.includes(HELP_ALL) || isShown(name, setting))));
    }
  }
  return command
    .option('--preset <name>', `settings to start from: ${Object.keys(PRESETS).join(', ')}`)
    .option('--config <file>', 'settings from a YAML file')
    .helpOption('-h, --help', 'the settings that are needed most')
    .option(HELP_ALL, 'all settings of a run, also rare ones and those of a cluster')
    .on(`option:${HELP_ALL.slice(2)}`, () => command.help());
}

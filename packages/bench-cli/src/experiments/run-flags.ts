/** The settings of a run as flags, for the commands that need them. */
import type { Command } from 'commander';
import { PRESETS } from '../config/presets.ts';
import { flagName, type Setting } from '../config/setting.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../config/settings.ts';
import { shownDefault } from '../config/short-run.ts';

function defaultHint(name: string, setting: Setting): string {
  const shown = shownDefault(name, setting);
  return shown === undefined || typeof setting.default === 'boolean' ? '' : ` (default: ${shown})`;
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

/** Adds the flags of all settings, a preset and a file. */
export function addRunSettings(command: Command): Command {
  for (const [name, setting] of Object.entries<Setting>(SETTINGS)) {
    command.option(setting.flag, setting.description + defaultHint(name, setting));
  }
  return command
    .option('--preset <name>', `settings to start from: ${Object.keys(PRESETS).join(', ')}`)
    .option('--config <file>', 'settings from a YAML file');
}

/** The settings of a run as flags, for the commands that need them. */
import type { Command } from 'commander';
import { PRESETS } from '../config/presets.ts';
import { flagName, type Setting, shownValue } from '../config/setting.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../config/settings.ts';

function defaultHint(setting: Setting): string {
  const value = setting.default;
  if (value === undefined || typeof value === 'boolean') return '';
  return ` (default: ${shownValue(setting, value)})`;
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
  for (const setting of Object.values<Setting>(SETTINGS)) {
    command.option(setting.flag, setting.description + defaultHint(setting));
  }
  return command
    .option('--preset <name>', `settings to start from: ${Object.keys(PRESETS).join(', ')}`)
    .option('--config <file>', 'settings from a YAML file');
}

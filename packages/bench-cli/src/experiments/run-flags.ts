/** The settings of a run as flags, for every command that needs some of them. */
import type { Command } from 'commander';
import {
  DEFAULTS,
  PRESETS,
  SETTING_DESCRIPTIONS,
  type SettingName,
  settingNames,
} from '../config/settings.ts';
import { percentText } from '../config/value-schemas.ts';

function defaultHint(name: SettingName): string {
  const value = (DEFAULTS as Partial<Record<SettingName, unknown>>)[name];
  if (value === undefined || typeof value === 'boolean') return '';
  return ` (default: ${name === 'maxLost' ? percentText(Number(value)) : String(value)})`;
}

/** The settings that were given on the command line, under their names; commander's own defaults are unused. */
export function settingsFrom(values: Record<string, unknown>): Partial<Record<SettingName, unknown>> {
  const entries = settingNames().flatMap((name) => {
    const value = values[name];
    // commander sets a negatable flag to true when it was not given.
    const given = name === 'provision' ? value === false : value !== undefined;
    return given ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

/** Adds the flags of all settings, a preset and a file. */
export function addRunSettings(command: Command): Command {
  for (const name of settingNames()) {
    const { flag, description } = SETTING_DESCRIPTIONS[name];
    command.option(flag, description + defaultHint(name));
  }
  return command
    .option('--preset <name>', `settings to start from: ${Object.keys(PRESETS).join(', ')}`)
    .option('--config <file>', 'settings from a YAML file');
}

/** The command of the loss experiment, with its flags. */
import type { Command } from 'commander';
import { type Setting, shownValue } from '../../config/setting.ts';
import { SETTINGS, type SettingName } from '../../config/settings.ts';
import type { Call } from '../experiment.ts';
import { settingsFrom } from '../run-flags.ts';
import { runLoss } from './run.ts';
import { DESCRIPTIONS, LOSS_BASE, LOSS_SETTINGS, SHARED_SETTINGS } from './settings.ts';

function hint(setting: Setting, value: unknown): string {
  const isShown =
    value !== undefined && typeof value !== 'boolean' && !setting.description.includes('default:');
  return isShown ? ` (default: ${shownValue(setting, value)})` : '';
}

const BASE: Readonly<Partial<Record<SettingName, unknown>>> = LOSS_BASE;

function addSettings(command: Command): Command {
  for (const setting of Object.values<Setting>(LOSS_SETTINGS))
    command.option(setting.flag, setting.description + hint(setting, setting.default));
  for (const name of SHARED_SETTINGS) {
    const setting: Setting = SETTINGS[name];
    const description = DESCRIPTIONS[name] ?? setting.description;
    command.option(setting.flag, description + hint(setting, BASE[name] ?? setting.default));
  }
  return command;
}

export function addLossCommands(program: Command, call: Call): void {
  addSettings(program.command('loss'))
    .description(
      'the highest rates at which servers lose 0, 0.1, 1 and 5 % of queries, and what they do beyond',
    )
    .option('--json', 'print the record instead of the tables')
    .addHelpText('after', call.exitStatusHelp)
    .action(async (values: Record<string, unknown>) => {
      const { bands, precision, overload } = values;
      call.status = await runLoss(call.world, {
        own: { bands, precision, overload },
        shared: settingsFrom(values),
        json: values.json === true,
        argv: call.argv,
      });
    });
}

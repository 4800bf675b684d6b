/** The settings of a cluster that `bench capacity` takes as flags: those of every run that mean something here. */
import type { Command } from 'commander';
import {
  KUBERNETES_DEFAULTS,
  KUBERNETES_SETTINGS,
  type KubernetesSettings,
} from '../../../config/kubernetes-settings.ts';
import { flagName, pickSettings, type Setting } from '../../../config/setting.ts';
import { variableOf } from '../../../config/settings.ts';
import { BenchError } from '../../../errors.ts';

const NAMES = [
  'namespacePrefix',
  'corednsImage',
  'dinodnsImage',
  'pullPolicy',
  'pullSecrets',
  'serverNode',
  'serverTolerations',
  'runAsUser',
  'scheduleTime',
  'readyTime',
] as const;

/** Read as well, where a command has its flag. */
const OF_SOME = ['loaderImage'] as const;

/** Adds the flags; `--context` is the command's own. */
export function addClusterFlags(command: Command): Command {
  for (const name of NAMES) {
    const { flag, description } = KUBERNETES_SETTINGS[name];
    command.option(flag, description);
  }
  return command;
}

/** Flags, else environment variables, else defaults. @throws BenchError `E_USAGE` for the first value that is not valid. */
export function clusterSettings(
  values: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): KubernetesSettings {
  const given = (['context', ...NAMES, ...OF_SOME] as const).flatMap((name) => {
    const setting: Setting = KUBERNETES_SETTINGS[name];
    const value = values[name] ?? env[variableOf(name)];
    if (value === undefined) return [];
    const checked = setting.schema.safeParse(value);
    if (checked.success) return [[name, checked.data] as const];
    throw new BenchError('E_USAGE', `${flagName(setting)}: "${value}" ${checked.error.issues[0]?.message}`, {
      fix: 'Give another value.',
    });
  });
  return pickSettings(KUBERNETES_SETTINGS, {
    ...KUBERNETES_DEFAULTS,
    target: 'kubernetes',
    ...Object.fromEntries(given),
  });
}

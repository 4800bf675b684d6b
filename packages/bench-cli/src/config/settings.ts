/**
 * Every setting of a run, once: see `Setting`. The command line, the environment, configuration files, the help
 * text, `docs/settings.md` and the type of a configuration are all made from these tables.
 */
import { z } from 'zod';
import { KUBERNETES_SETTINGS } from './kubernetes-settings.ts';
import { LOAD_SETTINGS } from './load-settings.ts';
import { defaultsOf, type SettingsOf, type SettingTable } from './setting.ts';
import { SERVER_SETTINGS, TRIAL_SETTINGS } from './trial-settings.ts';
import { choice, numberFromText, text, yesOrNo } from './value-schemas.ts';
import { WORKLOAD_SETTINGS } from './workload-settings.ts';

/** Of the servers, too: this machine and the versions. */
const PLACE_SETTINGS = {
  ip: {
    flag: '--ip <version>',
    rare: true,
    description: 'on one machine, servers listen on 127.0.0.1 (4) or ::1 (6)',
    schema: z.preprocess(numberFromText, z.literal([4, 6], 'must be 4 or 6')),
    default: 4,
    targets: ['local'],
  },
  allowRemote: {
    flag: '--allow-remote',
    rare: true,
    description: 'load may leave this machine: the servers of at=ADDRESS are mine to load',
    schema: yesOrNo,
    default: false,
  },
  cpu: {
    flag: '--cpu <how>',
    rare: true,
    description: 'CPU limits by quota, or pin to CPUs',
    schema: choice(['quota', 'pin']),
    default: 'quota',
    targets: ['local'],
  },
  corednsVersion: {
    flag: '--coredns-version <version>',
    description: 'CoreDNS release to compare with',
    schema: z
      .string('must be a version, for example 1.15.0')
      .transform((value) => value.replace(/^v/, ''))
      .refine((value) => /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(value), 'must be a version, for example 1.15.0'),
    // The stable release when this version of bench was made.
    default: '1.15.0',
    // The default changes from release to release.
    inCommand: 'always',
  },
  provision: {
    flag: '--no-provision',
    description: 'use only installed tools, install nothing',
    schema: yesOrNo,
    default: true,
  },
} as const satisfies SettingTable;

const OUTPUT_SETTINGS = {
  delta: {
    flag: '--delta <definition>',
    description: 'relative to the baseline, or symmetric as in the published tables',
    schema: choice(['relative', 'symmetric']),
    default: 'relative',
  },
  out: {
    flag: '--out <directory>',
    description: 'directory of the runs',
    schema: text,
    default: 'results',
    inCommand: 'never',
  },
} as const satisfies SettingTable;

/** The settings of a run on any target. */
export const RUN_SETTINGS = {
  ...SERVER_SETTINGS,
  ...TRIAL_SETTINGS,
  ...LOAD_SETTINGS,
  ...WORKLOAD_SETTINGS,
  ...PLACE_SETTINGS,
  ...OUTPUT_SETTINGS,
} as const;

/** All settings. */
export const SETTINGS = { ...RUN_SETTINGS, ...KUBERNETES_SETTINGS } as const;

/** The groups of the help text. */
export const SETTING_GROUPS: Readonly<Record<string, SettingTable>> = {
  Servers: { ...SERVER_SETTINGS, ...PLACE_SETTINGS },
  Load: LOAD_SETTINGS,
  Trials: TRIAL_SETTINGS,
  Workload: WORKLOAD_SETTINGS,
  Cluster: KUBERNETES_SETTINGS,
  Output: OUTPUT_SETTINGS,
};

export type SettingName = keyof typeof SETTINGS;
/** Checked values of all settings. */
export type Settings = SettingsOf<typeof SETTINGS>;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** Defaults; `short-run.ts` has those of a run on this machine where they differ. */
export const DEFAULTS = defaultsOf(SETTINGS);

/** The environment variable of a setting: `corednsVersion` → `DINODNS_BENCH_COREDNS_VERSION`. */
export function variableOf(name: string): string {
  return `DINODNS_BENCH_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** That are no settings: where CoreDNS is downloaded from, and two that the tests of this project read. */
export const OTHER_VARIABLES = ['corednsReleases', 'conformance', 'requireServers'].map(variableOf);

/** Where runs are, for commands that read them. */
export function runsDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return env[variableOf('out')] || DEFAULTS.out;
}

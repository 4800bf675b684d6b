/** The configurations of CoreDNS that the capacity experiment compares, by the names of `--configurations`. */
import type { Choice } from '../../servers/coredns-cluster/definition.ts';
import type { Configuration } from './published.ts';

export const CONFIGURATION_NAMES = ['default', 'autopath', 'verified', 'nocache', 'no-denial'] as const;
export type ConfigurationName = (typeof CONFIGURATION_NAMES)[number];

/** All but `default` are variants of `coredns-cluster` as well, of the same names. */
export const CONFIGURATIONS: Readonly<Record<ConfigurationName, Choice>> = {
  default: {},
  autopath: { pods: 'verified', autopath: true },
  verified: { pods: 'verified' },
  nocache: { cache: 'off' },
  'no-denial': { cache: 'no-denial' },
};

/** Whether CoreDNS keeps every pod in memory. */
export const watchesPods = (name: ConfigurationName) => CONFIGURATIONS[name].pods === 'verified';

/** The published configuration that reads the same objects. */
export const publishedAs = (name: ConfigurationName): Configuration =>
  watchesPods(name) ? 'autopath' : 'default';

/** The configurations of CoreDNS that the capacity experiment compares, by the names of `--config`. */
import type { Choice } from '../../servers/coredns-cluster/definition.ts';
import type { Configuration } from './published.ts';

export const CONFIGURATION_NAMES = ['default', 'autopath', 'verified', 'nocache', 'no-denial'] as const;
export type ConfigurationName = (typeof CONFIGURATION_NAMES)[number];

export interface CapacityConfiguration {
  readonly choice: Choice;
  /** The published configuration that watches the same objects. */
  readonly published: Configuration;
  /** The variant of `coredns-cluster`; null for the plain kind. */
  readonly variant: string | null;
}

export const CONFIGURATIONS: Readonly<Record<ConfigurationName, CapacityConfiguration>> = {
  default: { choice: {}, published: 'default', variant: null },
  autopath: {
    choice: { pods: 'verified', autopath: true },
    published: 'autopath',
    variant: 'autopath',
  },
  verified: { choice: { pods: 'verified' }, published: 'autopath', variant: 'verified' },
  nocache: { choice: { cache: 'off' }, published: 'default', variant: 'nocache' },
  'no-denial': { choice: { cache: 'no-denial' }, published: 'default', variant: 'no-denial' },
};

/** Whether CoreDNS keeps every pod in memory. */
export function watchesPods(name: ConfigurationName): boolean {
  return CONFIGURATIONS[name].choice.pods === 'verified';
}

/** The published configuration that reads the same objects as this one of a record. */
export function publishedConfiguration({ configuration }: { readonly configuration: string }): Configuration {
  const known = Object.entries(CONFIGURATIONS).find(([name]) => name === configuration)?.[1];
  return known?.published ?? 'default';
}

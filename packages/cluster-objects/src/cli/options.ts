/** Flags that several commands have. */
import { given } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { type Cluster, defineCluster } from '../cluster/cluster.ts';
import { type ClusterInput, clusterSpecSchema } from '../cluster/spec.ts';
import { ClusterError } from '../errors.ts';
import { defineExternal, type External, type ExternalInput } from '../names/external.ts';

/** The value as a number if it is one; any other text is for the validation to report. */
export function numberOrText(text: string): number | string {
  return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
}

export type ClusterFlags = { readonly [key in keyof ClusterInput]: unknown };

export function addClusterFlags(command: Command): Command {
  return command
    .option('--namespaces <number>', 'namespaces (default: 50)', numberOrText)
    .option('--services <number>', 'services (default: 820)', numberOrText)
    .option('--pods <number>', 'pods (default: 15000)', numberOrText)
    .option(
      '--endpoints <number>',
      'addresses of all services together (default: the number of pods)',
      numberOrText,
    )
    .option(
      '--headless <share>',
      'share of the services that are headless, 0 to 1 (default: 0.1)',
      numberOrText,
    )
    .option('--dual-stack', 'give everything an IPv6 address as well')
    .option('--seed <number>', 'for the random part of names and ids (default: 1)', numberOrText)
    .option('--domain <name>', "the cluster's zone (default: cluster.local)");
}

/** @throws ClusterError `E_CLUSTER` */
export function clusterOf(flags: ClusterFlags): Cluster {
  const keys = clusterSpecSchema.keyof().options;
  // Validated by the call, whatever the flags hold.
  return defineCluster(given(Object.fromEntries(keys.map((key) => [key, flags[key]]))) as ClusterInput);
}

export interface ExternalFlags {
  readonly names?: unknown;
  readonly externalDomain?: string;
  readonly host?: Readonly<Record<string, string[]>>;
}

/** `NAME=ADDRESS,ADDRESS`, added to those before. @throws ClusterError `E_USAGE` */
function hostsWith(text: string, before: Readonly<Record<string, string[]>>): Record<string, string[]> {
  const [, name, addresses] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && addresses !== undefined) {
    return { ...before, [name.toLowerCase().replace(/\.$/, '')]: addresses.split(',') };
  }
  const fix = 'give a name and its addresses, for example --host www.example.com=192.0.2.1,2001:db8::1';
  throw new ClusterError('E_USAGE', `--host cannot be "${text}"`, fix);
}

export function addExternalFlags(command: Command): Command {
  return command
    .option('--names <number>', 'external names that exist (default: 1000000)', numberOrText)
    .option('--external-domain <name>', 'the domain of the external names (default: example.org)')
    .option('--host <name=addresses>', 'one more external name; can be repeated', hostsWith, {});
}

/** @throws ClusterError `E_CLUSTER` */
export function externalOf({ names, externalDomain, host }: ExternalFlags): External {
  // Validated by the call, whatever the flags hold.
  return defineExternal(given({ names, domain: externalDomain, hosts: host }) as ExternalInput);
}

export interface ListenFlags {
  readonly address: string;
  readonly port: number;
  readonly withParent?: boolean;
}

const READY_HELP = `
When it serves, it prints one line:
  {"ready":true,"address":"127.0.0.1","port":8001,"pid":4711,…}
It stops on SIGTERM and Ctrl-C, and when npx or pnpm, which started it, has
ended.`;

export function addListenFlags(command: Command): Command {
  return command
    .option('--address <address>', 'where it listens', '127.0.0.1')
    .option('--port <number>', 'its port; 0 lets the system choose', portOf, 0)
    .option('--with-parent', 'end when the process that started it has ended')
    .addHelpText('after', READY_HELP);
}

/** Reads a number of a range. @throws ClusterError `E_USAGE` */
export function numberIn(flag: string, from: number, to: number, whole: boolean): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (value >= from && value <= to && (!whole || Number.isInteger(value))) return value;
    const fix = `give a ${whole ? 'whole ' : ''}number from ${from} to ${to.toLocaleString('en')}`;
    throw new ClusterError('E_USAGE', `${flag} cannot be "${text}"`, fix);
  };
}

export const portOf = numberIn('--port', 0, 65_535, true);

/** Every server kind, in the order of `bench servers`, and the servers that a run names. */
import { nearest } from '@dinodns-bench/program';
import type { RunConfiguration } from '../config/configuration.ts';
import { withoutPath } from '../config/paths.ts';
import { parseOwnServer, parseServerName, type ServerName, serverNameText } from '../config/server-name.ts';
import { DEFAULTS } from '../config/settings.ts';
import { BenchError } from '../errors.ts';
import { bind } from './bind/index.ts';
import { clusterDns } from './cluster-dns/index.ts';
import { coredns } from './coredns/index.ts';
import { corednsCluster } from './coredns-cluster/index.ts';
import { dinodns, dinodnsStock } from './dinodns/index.ts';
import { dnsmasq } from './dnsmasq/index.ts';
import { echo } from './echo/index.ts';
import { knot } from './knot/index.ts';
import { nsd } from './nsd/index.ts';
import { powerdns } from './powerdns/index.ts';
import type { Server, ServerKind } from './server.ts';
import { unbound } from './unbound/index.ts';

export const SERVER_KINDS: readonly ServerKind[] = [
  coredns,
  corednsCluster,
  dinodnsStock,
  dinodns,
  knot,
  nsd,
  bind,
  powerdns,
  unbound,
  dnsmasq,
  echo,
  clusterDns,
];

/** What decides the versions of servers that name none. */
export type VersionSettings = Pick<RunConfiguration, 'corednsVersion'>;

/** What people compare CoreDNS with, but is no server here: how far bench goes. */
export const NO_SERVERS: ReadonlyMap<string, string> = new Map([
  [
    'kube-dns',
    'Its caching is measured with its three images: `bench capacity caching --target kubernetes --kube-dns-image …`. Its memory by objects is not.',
  ],
]);

function unknownServer(text: string, known: readonly string[], fix: string): BenchError {
  const suggestion = nearest(text, [...known]);
  return new BenchError('E_UNKNOWN_SERVER', `unknown server "${text}"`, {
    fix: suggestion === undefined ? fix : `Did you mean "${suggestion}"? \`bench servers\` lists them all.`,
  });
}

function kindOf(text: string): { kind: ServerKind; name: ServerName } {
  const known = SERVER_KINDS.map(({ name }) => name);
  const fix = `Choose from ${known.join(', ')}; \`bench servers\` describes them.`;
  const name = parseServerName(text);
  if (text.startsWith('at:'))
    throw unknownServer(text, [], `A server that runs is at=${text.slice(3)}, or NAME=${text} to name it.`);
  if (name === null) throw unknownServer(text, known, fix);
  const noServer = NO_SERVERS.get(name.kind);
  if (noServer !== undefined) throw unknownServer(text, [], noServer);
  const kind = SERVER_KINDS.find((candidate) => candidate.name === name.kind);
  if (kind === undefined) throw unknownServer(name.kind, known, fix);
  return { kind, name };
}

/** Variants of bench 0.1 that are servers of a file now. */
const MOVED: Readonly<Record<string, string>> = {
  'dinodns+redis': 'redis=examples/databases/redis.yaml',
  'dinodns+sqlite': 'sqlite=examples/databases/sqlite.yaml',
};

/** What runs, and its title without the version. */
function chosenVariant(kind: ServerKind, { variant }: ServerName) {
  const { name, title, definition, variants = {} } = kind;
  if (variant === null) return { title: (version: string) => `${title}${version}`, definition };
  const chosen = Object.hasOwn(variants, variant) ? variants[variant] : undefined;
  const known = Object.keys(variants);
  if (chosen === undefined) {
    const moved = MOVED[`${name}+${variant}`];
    if (moved !== undefined)
      throw unknownServer(`${name}+${variant}`, [], `It is an example now: --servers ${moved}`);
    throw unknownServer(
      `${name}+${variant}`,
      known.map((other) => `${name}+${other}`),
      known.length === 0 ? `${name} has no variants; omit +${variant}.` : `Choose from ${known.join(', ')}.`,
    );
  }
  return {
    title: (version: string) => `${title}${version} (${chosen.title})`,
    definition: chosen.definition,
  };
}

/**
 * A server by its name (see `config/server-name.ts`).
 * @throws BenchError `E_UNKNOWN_SERVER` with the nearest known kind or variant; `E_CONFIG` for a version of a kind that
 * has only the installed one.
 */
export function findServer(text: string, settings: VersionSettings): Server {
  const { kind, name } = kindOf(text);
  if (name.version !== null && kind.defaultVersion === undefined) {
    throw new BenchError('E_CONFIG', `--servers: ${kind.name} has no versions to choose from ("${text}")`, {
      fix: `Write ${serverNameText({ ...name, version: null })}: the version that is installed is measured, and the record says which.`,
    });
  }
  return serverOf(kind, name, settings);
}

/** The server of a kind that `name` describes, whose kind is not looked at. See `findServer` for errors. */
export function serverOf(kind: ServerKind, name: ServerName, settings: VersionSettings): Server {
  const { title, definition } = chosenVariant(kind, name);
  return {
    ...definition,
    name: serverNameText(name),
    title: title(name.version === null ? '' : ` ${name.version}`),
    kind: kind.name,
    variant: name.variant,
    version: name.version ?? kind.defaultVersion?.(settings) ?? null,
    isVersionNamed: name.version !== null,
  };
}

/** `coredns@1.11.3`: the entries of `--servers` that ask for a version, by name or by `--coredns-version`, each once. */
export function namedVersions(entries: readonly string[], settings: VersionSettings): string[] {
  const named = entries.flatMap((entry) => {
    const name = parseOwnServer(entry) === null ? parseServerName(entry) : null;
    const kind = SERVER_KINDS.find((candidate) => candidate.name === name?.kind);
    if (name === null || kind === undefined) return [];
    const version = name.version ?? kind.defaultVersion?.(settings) ?? null;
    const isUsual = name.version === null && version === (kind.defaultVersion?.(DEFAULTS) ?? null);
    return isUsual ? [] : [serverNameText({ ...name, version })];
  });
  return [...new Set(named)];
}

/** `CoreDNS 1.11.3` for `coredns@1.11.3`; every other text as it is. */
export function serverTitle(text: string): string {
  const name = parseServerName(text);
  const kind = SERVER_KINDS.find((candidate) => candidate.name === name?.kind);
  const isKnown = name?.variant == null || Object.hasOwn(kind?.variants ?? {}, name.variant);
  if (name === null || kind === undefined || !isKnown) return text;
  return chosenVariant(kind, name).title(name.version === null ? '' : ` ${name.version}`);
}

/** Every kind and every variant in its default version, by their names. */
export function serverNames(): string[] {
  return SERVER_KINDS.flatMap(({ name, variants = {} }) => [
    name,
    ...Object.keys(variants).map((variant) => serverNameText({ kind: name, version: null, variant })),
  ]);
}

/** The name of an image, between its registry and its tag. */
const IMAGE = /^(?:[^@]*\/)([^/@:]+)(?::[^/]*)?$/;

/** The title of a server, before its version. */
const TITLE = /^(.*\S) \d[\w.]*$/;

/** `CoreDNS` for `coredns@1.13.1+file`, `coredns/coredns:1.15.0` and `CoreDNS 1.15.0`; a server of the user's own is a kind of its own. */
export function kindTitle(server: string): string {
  const name = IMAGE.exec(server)?.[1] ?? TITLE.exec(server)?.[1];
  return serverTitle((name ?? parseServerName(withoutPath(server))?.kind ?? server).trim());
}

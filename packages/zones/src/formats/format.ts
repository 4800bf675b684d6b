/**
 * The definition of a format: a module that turns a zone set into files. To add a format, add a module here and a
 * line to `index.ts`.
 */

import { isIP } from 'node:net';
import type { Problem } from '@dinodns-bench/program';
import { ZonesError } from '../errors.ts';
import { parsePattern } from '../pattern.ts';
import { type Plan, planOf } from '../plan.ts';
import { jsonOf } from '../problems.ts';
import { RECORD_TYPES, type RecordType } from '../records.ts';
import type { ZoneSet } from '../zone-set.ts';
import { type AroundZones, compileZoneText, type ZoneReference, zoneChunks } from '../zone-text.ts';

/** For servers that would answer with a DNAME record but not redirect the names below it (RFC 6672). */
export const WITHOUT_DNAME = RECORD_TYPES.filter((type) => type !== 'DNAME');

export const ENCRYPTED_TRANSPORTS = ['tls', 'https'] as const;
export type EncryptedTransport = (typeof ENCRYPTED_TRANSPORTS)[number];

export interface Encryption {
  readonly transport: EncryptedTransport;
  /** Absolute paths of PEM files on the server's machine: the certificate with its chain, and its private key. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface RenderOptions {
  /** Absolute path of the files' directory. Default `.`: the server's working directory. */
  readonly directory?: string | undefined;
  /** Absolute path of a directory where the server may write, if it may not where its files are. Default: `directory`. */
  readonly stateDirectory?: string | undefined;
  /** Address on which the server listens, IPv4 or IPv6. Default 127.0.0.1. */
  readonly address?: string | undefined;
  /** UDP and TCP port, 1 to 65535. Default 5300. */
  readonly port?: number | undefined;
  /** Threads or processes that answer queries, if the configuration can set this. Default 1. */
  readonly workers?: number | undefined;
  /**
   * Absolute path of a directory with a zone file for each zone, `NAME.zone`, such as signed ones. Default: one file that
   * all zones share. Only formats with zone files have it.
   */
  readonly zoneFiles?: string | undefined;
  readonly coredns?:
    | {
        /** Adds the `multisocket` plugin with this many sockets. */
        readonly multisocket?: number | undefined;
        /**
         * Whether the templates compare the name, so that names below an apex-only zone get NXDOMAIN. Default:
         * only if the zones have hosts; the published setup has no such comparison.
         */
        readonly match?: boolean | undefined;
        /** Adds the `cache` plugin with its defaults. Default: false. */
        readonly cache?: boolean | undefined;
      }
    | undefined;
  readonly powerdns?:
    | {
        /** Whether PowerDNS may answer from its caches, as it does by default. Default: true. */
        readonly caches?: boolean | undefined;
      }
    | undefined;
  /**
   * Answers over TLS (RFC 7858) or HTTPS (RFC 8484, path /dns-query) at `port`, with this certificate. Only some formats
   * can: see `encrypts`. Default: UDP and TCP without encryption.
   */
  readonly encryption?: Encryption | undefined;
  /** Called from time to time with the number of zones rendered so far. */
  readonly onProgress?: ((zones: number) => void) | undefined;
}

/** Render options with their defaults. */
export type Settings = ReturnType<typeof settingsOf>;

export interface RenderedFile {
  /** Relative to the directory, without `..`. */
  readonly path: string;
  /** The text in chunks, which can be iterated once. */
  readonly chunks: Iterable<string>;
}

export interface Format {
  readonly name: string;
  readonly title: string;
  /** One line. */
  readonly description: string;
  /** Names of the files, in the order in which they are rendered. Files for single zones follow. */
  readonly files: readonly string[];
  /** Record types that the format can hold. */
  readonly recordTypes: readonly RecordType[];
  /** Transports that the configuration can ask for with `encryption`. */
  readonly encrypts: readonly EncryptedTransport[];
  /**
   * The files for a zone set. Throws a `ZonesError` (`E_FORMAT`) before generating any text if the format cannot hold
   * the records or an option is not valid. Equal input gives equal text.
   */
  render(zoneSet: ZoneSet, options?: RenderOptions): Iterable<RenderedFile>;
}

/** The input of a format's module, validated and with defaults filled in. */
export interface RenderContext {
  readonly zoneSet: ZoneSet;
  readonly plan: Plan;
  readonly settings: Settings;
  /** What the file holds and that dinodns-zones made it, as a comment for the head of a file. */
  readonly heading: string;
  /** The text of each zone, one after the other. */
  readonly eachZone: (textOf: (zone: ZoneReference) => string, around?: AroundZones) => Iterable<string>;
}

export interface FormatDefinition extends Omit<Format, 'render' | 'recordTypes' | 'encrypts'> {
  /** Default: none. */
  readonly encrypts?: readonly EncryptedTransport[];
  /** Default: all of them. */
  readonly recordTypes?: readonly RecordType[];
  /** Further reasons why the records cannot be held. */
  readonly unsupported?: (plan: Plan, zoneSet: ZoneSet) => Problem[];
  /** One entry for each of `files`; none for the shared zone file if the zones have files of their own. */
  readonly render: (context: RenderContext) => Iterable<string>[];
  /** Further files, whose names depend on the zones. */
  readonly renderMore?: (context: RenderContext) => Iterable<RenderedFile>;
}

/** Makes a format from its definition. Checks and defaults are the same for all formats. */
export function defineFormat(definition: FormatDefinition): Format {
  const { name, files } = definition;
  const recordTypes = definition.recordTypes ?? RECORD_TYPES;
  const encrypts = definition.encrypts ?? [];
  return {
    ...definition,
    recordTypes,
    encrypts,
    render(zoneSet, options = {}) {
      const plan = planOf(zoneSet.spec);
      const problems = [
        ...optionProblems(options),
        ...encryptionProblems(options, name, encrypts),
        ...typeProblems(zoneSet, name, recordTypes),
        ...(definition.unsupported?.(plan, zoneSet) ?? []),
      ];
      if (problems.length > 0)
        throw new ZonesError('E_FORMAT', `cannot generate the format ${name}`, problems);
      const context: RenderContext = {
        zoneSet,
        plan,
        settings: settingsOf(options),
        heading: headingFor(zoneSet),
        eachZone: (textOf, around) =>
          zoneChunks(zoneSet, compileZoneText(textOf), around, options.onProgress),
      };
      const texts = definition.render(context);
      const named = texts.map((chunks, index) => ({ path: files[index] ?? '', chunks }));
      return definition.renderMore === undefined ? named : inOrder(named, definition.renderMore(context));
    },
  };
}

function* inOrder<T>(...lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}

function settingsOf(options: RenderOptions) {
  return {
    directory: options.directory ?? '.',
    stateDirectory: options.stateDirectory ?? options.directory ?? '.',
    address: options.address ?? '127.0.0.1',
    port: options.port ?? 5300,
    workers: options.workers ?? 1,
    zoneFiles: options.zoneFiles,
    coredns: {
      multisocket: options.coredns?.multisocket,
      match: options.coredns?.match ?? false,
      cache: options.coredns?.cache ?? false,
    },
    powerdns: { caches: options.powerdns?.caches ?? true },
    encryption: options.encryption,
  };
}

/**
 * What NSD and Unbound need for encryption. All TCP connections to the port are then TLS, and DNS over HTTPS on the path /dns-query
 * where that is asked for; NSD still answers over UDP there.
 */
export function encryptedService({ port, encryption }: Settings): string {
  if (encryption === undefined) return '';
  return `  ${encryption.transport}-port: ${port}
  tls-service-pem: "${encryption.certificateFile}"
  tls-service-key: "${encryption.keyFile}"
`;
}

/** Configuration files quote paths, each in its own way. */
function pathProblem(path: string | undefined, what: 'directory' | 'path'): Problem | undefined {
  if (path === undefined || !/["\\\p{Cc}]/u.test(path)) return undefined;
  return {
    problem: `the ${what} ${jsonOf(path)} has a quote, a backslash or a control character, which some servers cannot read`,
    fix: `use a ${what} without them`,
  };
}

/** More than any machine has CPUs: a larger number is a mistake. */
const MAX_WORKERS = 1024;

function wholeNumber(value: number | undefined, what: string, max: number): Problem | undefined {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= max)) return undefined;
  return { problem: `${what} cannot be ${value}`, fix: `give a whole number from 1 to ${max}` };
}

function optionProblems(options: RenderOptions): Problem[] {
  const { directory, stateDirectory, address, port, workers, coredns, zoneFiles } = options;
  const problems = [
    wholeNumber(port, 'the port', 65_535),
    wholeNumber(workers, 'the number of workers', MAX_WORKERS),
    wholeNumber(coredns?.multisocket, 'the number of sockets (multisocket)', MAX_WORKERS),
  ];
  if (address !== undefined && isIP(address) === 0) {
    problems.push({
      problem: `"${address}" is not an address to listen on`,
      fix: 'give an IPv4 or IPv6 address, such as 127.0.0.1, ::1 or 0.0.0.0',
    });
  }
  problems.push(...[directory, stateDirectory, zoneFiles].map((path) => pathProblem(path, 'directory')));
  return problems.filter((problem) => problem !== undefined);
}

function encryptionProblems(
  { encryption }: RenderOptions,
  name: string,
  encrypts: readonly EncryptedTransport[],
): Problem[] {
  if (encryption === undefined) return [];
  const { transport, certificateFile, keyFile } = encryption;
  const problems = [certificateFile, keyFile]
    .map((path) => pathProblem(path, 'path'))
    .filter((problem) => problem !== undefined);
  if (encrypts.includes(transport)) return problems;
  const known = encrypts.length === 0 ? 'neither TLS nor HTTPS' : `only ${encrypts.join(', ')}`;
  return [
    ...problems,
    {
      problem: `the format ${name} cannot configure ${transport}: it has ${known}`,
      fix: 'use another format',
    },
  ];
}

/** Only requested records count: a default SOA or NS that the format cannot hold is omitted. */
function typeProblems(zoneSet: ZoneSet, name: string, types: readonly RecordType[]): Problem[] {
  const missing = new Set(
    zoneSet.spec.records.map(({ type }) => type).filter((type) => !types.includes(type)),
  );
  if (missing.size === 0) return [];
  return [
    {
      problem: `the format ${name} cannot hold ${[...missing].join(', ')} records`,
      fix: `omit them (it holds ${types.join(', ')}), or use another format`,
    },
  ];
}

function headingFor({ size, spec }: ZoneSet): string {
  const count = size === 1 ? '1 zone' : `${size} zones`;
  if (parsePattern(spec.pattern).isName) return `${count}: ${spec.pattern}. Made by dinodns-zones.`;
  const parity = spec.parity === 'all' ? '' : `${spec.parity} `;
  return `${count}: ${spec.pattern} with ${parity}X from ${spec.from} to ${spec.to}. Made by dinodns-zones.`;
}

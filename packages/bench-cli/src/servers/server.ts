/**
 * A kind of DNS server: a folder that turns a zone set into files and a command line, and says how the server
 * answers, where its program and its image come from, and how to ask for their version. The target starts it. To
 * add a server, add a folder beside this file and one line to `registry.ts`.
 *
 * A run compares *servers*: a kind, perhaps of a chosen version, perhaps in one of the kind's variants
 * (`coredns@1.13.1+file`). The same kind can be there several times.
 */
import type { RenderOptions, ZoneSet } from '@dinodns-bench/zones';
import type { RunConfiguration } from '../config/configuration.ts';
import type { KubernetesSettings } from '../config/kubernetes-settings.ts';
import type { ServicePath } from '../config/paths.ts';
import type { DnsQuery } from '../dns/client.ts';
import type { Endpoint } from '../dns/endpoint.ts';
import type { Program, WantedVersion } from '../provision/provision.ts';
import type { Mode, Transport } from '../results/record.ts';

/** The version of IP that a server listens on, where bench chooses: on one machine. */
export type IpVersion = RunConfiguration['ip'];

/** A file that the server reads. `path` is relative to the instance's directory. */
export interface ConfigurationFile {
  readonly path: string;
  readonly chunks: Iterable<string>;
}

/** Absolute paths of PEM files: a certificate with its chain, and its private key. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

/** What one instance is given. */
export interface InstanceRequest {
  readonly zoneSet: ZoneSet;
  readonly address: string;
  /** Already known to be free. */
  readonly port: number;
  readonly mode: Mode;
  readonly transport: Transport;
  /** Only for tls and https: PEM files on the target. */
  readonly certificate?: CertificateFiles;
  /** CPU allowance of this instance, in cores; a fraction is possible. */
  readonly cpus: number;
  /** CPUs that cluster mode derives its number of workers from; default `cpus`. Differs under `--workers node`. */
  readonly workerCpus?: number;
  /** Absolute path of a directory with a file for each zone, `NAME.zone`, such as signed ones; only for servers that read them. */
  readonly zoneFiles?: string;
  /** Absolute path of the directory that will hold `files`. Exists only on the target. */
  readonly directory: string;
  /** Absolute path of a directory where the server may write, if it may not in `directory`. Exists only on the target. */
  readonly stateDirectory?: string;
  /** The server's program on the target: the executable, or an interpreter and its script. */
  readonly program: readonly string[];
  /** Where its companions listen, at `address`. */
  readonly companionPorts?: Readonly<Record<string, number>>;
}

/**
 * A program of Node.js that a server needs beside it. The first line of its standard output is a JSON object with
 * `"ready": true` and its `port`.
 */
export interface Companion {
  /** Unique for the server; a DNS label. */
  readonly name: string;
  readonly script: string;
  readonly arguments: readonly string[];
  /** Its command in the image of k8s/images/load, which `--port N` follows. Absent for one that runs on this machine only. */
  readonly inPod?: readonly string[];
}

/** How bench knows that an instance answers. Both are bounded in time, and end early if the instance exits. */
export type Readiness =
  /**
   * The first line of standard output is a JSON object with `"ready": true` (and perhaps `workers`). In a pod, whose output is
   * not read, it is asked for a name.
   */
  | { readonly kind: 'stdout-json'; readonly name?: string }
  /**
   * A query for the first name of the workload is answered. Until then it may answer with an error for this many seconds
   * more than other servers, which load nothing but zones. Default: 0. In a pod, `http` says whether it has loaded everything.
   */
  | {
      readonly kind: 'answer';
      readonly loadSeconds?: number;
      /** Asked instead: answered only once everything is loaded. Type A; it need not exist. */
      readonly name?: string;
      readonly http?: { readonly port: number; readonly path: string };
    }
  /** A line of its output, on either stream, contains this text. */
  | { readonly kind: 'line'; readonly text: string };

/** SIGKILL for programs that ignore the others. */
export type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL';

/** How to run one instance. */
export interface InstancePlan {
  readonly files: readonly ConfigurationFile[];
  /** Executable and arguments. */
  readonly command: readonly string[];
  /** Default: nothing but that of bench. */
  readonly env?: Readonly<Record<string, string>>;
  readonly readiness: Readiness;
  /** Threads or processes that will answer queries, if the plan decides it. */
  readonly workers: number | null;
  /**
   * Commands of programs that run beside it, started before it in the same directory and under the same CPU limit:
   * what a server needs to answer is part of its cost. They end with it.
   */
  readonly beside?: readonly (readonly string[])[];
  /** File relative to the directory that it logs to before it can log to standard error; shown if it does not start. */
  readonly logFile?: string;
  /** Absolute path of the directory it runs in on this machine; default: that of its files. */
  readonly cwd?: string;
  /** Asks it to end; default SIGTERM. On a cluster the image says it. */
  readonly stopSignal?: StopSignal;
}

/** What decides which image a server runs in. */
export interface ImageSettings extends WantedVersion {
  readonly settings: Pick<KubernetesSettings, 'corednsImage' | 'dinodnsImage' | 'serverImages'>;
  /** The server's name asks for this version. */
  readonly isNamed: boolean;
}

/** The container image that holds a server's program on the kubernetes target. Servers may share one. */
export interface ServerImage {
  reference(request: ImageSettings): string;
  /** Where it comes from, for `bench images`; IMAGE stands for the reference. */
  readonly origin: string;
  /** Its program has the file capability to bind low ports, and does not start where that is not allowed. */
  readonly needsBindService?: true;
}

/** A server that answers at an address. */
export interface AddressServer {
  readonly kind: 'address';
  /** An IP address or a host name. */
  readonly host: string;
  readonly port: number;
  /** The address behind `host`; null until it was looked up. */
  readonly address: string | null;
  /** The process with its descendants, or the control group, whose CPU and memory count; null if none was named. */
  readonly observed: { readonly pid: number } | { readonly cgroup: string } | null;
}

/** A Service of a cluster, whatever is behind it. */
export interface ServiceServer {
  readonly kind: 'service';
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** A server that runs already: found, measured and left unchanged, never deployed. */
export type ExistingServer = AddressServer | ServiceServer | { readonly kind: 'cluster-dns' };

/** In a record, among the components of such a server: how reports know it. */
export const AS_FOUND = { deployed: 'no' } as const;

/** How a server caches and forwards, where it is not as usual. */
export interface ForwardOptions {
  /** Queries at once to the upstream; others are refused. CoreDNS only. */
  readonly maxConcurrent?: number;
  /** No answer is kept for longer; 0: none is kept. */
  readonly cacheSeconds?: number;
  /** Whether answers that are too old are given, and refreshed afterwards. */
  readonly serveStale?: boolean;
}

/** How a server is run: what a kind's folder says of one of its variants. */
export interface ServerDefinition {
  /** How its program gets onto a machine, and what `bench doctor` says of it; null if it runs in clusters only. */
  readonly program: Program | null;
  /** Null if it does not run in clusters. */
  readonly image: ServerImage | null;
  readonly existing?: ExistingServer;
  /**
   * Not a DNS server: it sends queries back as they came. There are no answers or response codes to check, and
   * reports mark its figures. Default: a DNS server.
   */
  readonly answers?: 'echo';
  /**
   * It has the names of a generated cluster and no others, or only those of them that are in zones, so that it knows none
   * outside the cluster; default: the names of the zone set.
   */
  readonly answersNamesOf?: 'generated-cluster' | 'zones-of-generated-cluster';
  /** Why it cannot have the names of a generated cluster, where more is known than that bench cannot configure it so. */
  readonly withoutClusterNames?: string;
  /**
   * It goes through this search list by itself: a query for a name below the first domain gets the answer of the first
   * candidate that exists (CoreDNS's `autopath`). Default: it does not.
   */
  readonly completesSearch?: readonly string[];
  /** What must run beside each instance, on the same address of one machine or in the same pod. Default: nothing. */
  companions?(address: string): readonly Companion[];
  /** Described by the user: it is started and asked once before the first trial, so that a mistake shows at once. */
  readonly triedFirst?: true;
  /**
   * How this server answers for a name outside all of its zones; both are correct (RFC 9499: "lame"). `either`: not
   * known; its first such answer decides, and all others must be the same.
   */
  readonly answersUnknownZoneWith: 'NXDOMAIN' | 'REFUSED' | 'either';
  /** What it can be configured to answer over. Default: `udp` and `tcp`. */
  readonly transports?: readonly Transport[];
  /** Why this combination of a mode and one of its transports cannot be run, or null if it can. Default: all can. */
  unsupported?(mode: Mode, transport: Transport, ip: IpVersion): string | null;
  /** It serves `zoneFiles`; signed ones with their signatures where a query has the DO bit. Default: it does not. */
  readonly readsZoneFiles?: true;
  plan(request: InstanceRequest): InstancePlan;
  /** How to run it as a cache that forwards every query to `upstream` instead. Absent where bench does not know. */
  planForwarding?(request: InstanceRequest, upstream: Endpoint, options?: ForwardOptions): InstancePlan;
  /** In mode multi its workers are processes of their own, and it starts another for one that dies. Default: they are not. */
  readonly replacesWorkers?: true;
  /** Arguments that make the program print its version, and how to read what it prints. Empty: it is not asked. */
  readonly versionArguments: readonly string[];
  parseVersion(output: string): ServerVersion | null;
}

/** What is asked to find out whether it has loaded everything; `others` by default. */
export function readinessQueriesOf(
  { readiness }: InstancePlan,
  others: readonly DnsQuery[],
): readonly DnsQuery[] {
  if (readiness.kind === 'line' || readiness.name === undefined) return others;
  return [{ name: readiness.name, type: 'A' }];
}

const UNENCRYPTED: readonly Transport[] = ['udp', 'tcp'];

/** The transports of a server. */
export function transportsOf({ transports = UNENCRYPTED }: Pick<ServerDefinition, 'transports'>) {
  return transports;
}

/**
 * What a configuration format of `@dinodns-bench/zones` needs for the request's transport.
 * @throws Error for an encrypted transport without a certificate, which is the target's fault.
 */
export function encryptionOf({ transport, certificate }: InstanceRequest): Pick<RenderOptions, 'encryption'> {
  if (transport !== 'tls' && transport !== 'https') return {};
  if (certificate === undefined) throw new Error(`no certificate for ${transport}`);
  return { encryption: { transport, ...certificate } };
}

/** A server of a run. */
export interface Server extends ServerDefinition, WantedVersion {
  /** As in `--servers`, in records and in reports; unique within a run: `coredns@1.13.1+file`. */
  readonly name: string;
  /** Name in tables, without the mode: "CoreDNS 1.13.1 (file)". */
  readonly title: string;
  /** Name of its kind: `coredns`. */
  readonly kind: string;
  /** Name of its variant: `file`; null for the plain kind. */
  readonly variant: string | null;
  /** Whether its name says which version. */
  readonly isVersionNamed: boolean;
  /** How it is reached in a run that compares several paths; its name says so. Default: as `--path` says. */
  readonly path?: ServicePath;
}

/** What a record says of a server, whatever its program. */
export function identityOf({ name, kind, variant, title }: Server) {
  return { name, kind, variant, title };
}

/** Among the components in a record: by this, reports mark what is not a DNS server. */
export function answersOf({ answers }: Pick<ServerDefinition, 'answers'>): { answers?: 'echo' } {
  return answers === undefined ? {} : { answers };
}

/** A configuration of a kind beside the plain one. */
export interface Variant {
  /** Stands behind the kind's title in brackets. */
  readonly title: string;
  /** One line for `bench servers`. */
  readonly description: string;
  readonly definition: ServerDefinition;
}

export interface ServerKind {
  /** Name in flags, records and reports: lower case, digits and hyphens. */
  readonly name: string;
  /** Name in tables: "CoreDNS". */
  readonly title: string;
  /** One line for `bench servers`. */
  readonly description: string;
  readonly definition: ServerDefinition;
  /** By their names, which follow `+`. Default: none. */
  readonly variants?: Readonly<Record<string, Variant>>;
  /**
   * The version of a run that names none; only kinds that have this can be given one (`KIND@VERSION`). Null: the one
   * that is installed with bench.
   */
  readonly defaultVersion?: (settings: Pick<RunConfiguration, 'corednsVersion'>) => string | null;
}

export interface ServerVersion {
  readonly version: string;
  /** Further versions that matter: Go, Node.js, the framework. */
  readonly components: Readonly<Record<string, string>>;
}

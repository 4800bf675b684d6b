/**
 * Where servers run. A target deploys the instances of one case, observes them while they are measured and
 * removes them; the measuring code does not know whether they are processes or pods.
 */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { DnsClient } from '../dns/client.ts';
import type { Endpoint } from '../dns/endpoint.ts';
import type { ObservationWindow } from '../observe/window.ts';
import type { CpuLimitMethod, InstanceRecord, Mode, Transport } from '../results/record.ts';
import type { Server } from '../servers/server.ts';
import type { BenchWorkload } from '../workload/workload.ts';

export interface DeployRequest {
  readonly server: Server;
  /** The server's program; see `InstanceRequest.program`. */
  readonly program: readonly string[];
  readonly zoneSet: ZoneSet;
  readonly mode: Mode;
  readonly transport: Transport;
  /** CPU allowance of each instance, in cores; one entry for each instance. */
  readonly allowances: readonly number[];
  /** What cluster mode derives its number of workers from: the allowance, or all cores of the machine. Default `quota`. */
  readonly workers?: 'quota' | 'node';
  /** False where nothing is measured, only tried: the logs are not kept. Default true. */
  readonly isTrial?: boolean;
  /** Puts the command of an instance into what the caller made for it, such as a control group. Local target only. */
  within?(command: readonly string[]): readonly string[];
  /** Directory that receives the raw logs of the instances. */
  readonly logDirectory: string;
  /** Aborted when the run is interrupted: the deployment is abandoned and removed. */
  readonly signal: AbortSignal;
}

export interface ObserveOptions {
  /**
   * Other servers have the load within the window, too: only counters tell what this one used. What it uses without load is
   * observed first, if only then it can be. Default false.
   */
  readonly inTurn?: boolean;
}

export interface Deployment {
  readonly instances: readonly InstanceRecord[];
  readonly endpoints: readonly Endpoint[];
  /** Ports of what runs beside the first instance, by the names of `Server.companions`; absent without any. */
  readonly companionPorts?: Readonly<Record<string, number>>;
  /** Configuration files of the first instance by name, for the record. */
  readonly files: Readonly<Record<string, string>>;
  /** A client beside the loader, for the answer check: it reaches the endpoint as the loader does. */
  openClient(endpoint: Endpoint, workload: BenchWorkload): Promise<DnsClient>;
  /**
   * Resolves once the endpoint answers, whatever it says: for a server without answers to check. Rejects with `E_SERVER_START`.
   * Absent where a server is reached as soon as it is ready.
   */
  reached?(endpoint: Endpoint): Promise<void>;
  /** Begins to observe all processes of all instances. */
  observe(options?: ObserveOptions): Promise<ObservationWindow>;
  /**
   * CPU seconds of all instances since they started, and their processes; `beside`: programs of the measurement that run beside
   * them, such as an upstream. Absent where that cannot be read at any time.
   */
  usage?(): Promise<{
    readonly cpuSeconds: number;
    readonly pids: readonly number[];
    readonly beside: readonly number[];
  }>;
  /**
   * Stops the servers as `remove` does, and starts them again in the same places once `down` resolves; resolves when they
   * answer. Absent where bench does not start processes.
   */
  restart?(down: () => Promise<unknown>): Promise<void>;
  /** Rejects with `E_SERVER_DIED` and the last log lines as soon as an instance ends before `remove`. Never resolves. */
  readonly died: Promise<never>;
  /** The last log lines of all instances. */
  lastLogLines(): Promise<readonly string[]>;
  /** Stops everything and deletes everything that the deployment made. Safe to call twice. */
  remove(): Promise<void>;
}

export interface Target {
  readonly kind: 'local' | 'kubernetes';
  /** How CPU limits are set here, decided once for the run. */
  readonly cpuLimits: { readonly method: CpuLimitMethod; readonly reason: string | null };
  deploy(request: DeployRequest): Promise<Deployment>;
  /** What showed during deployment and the reader of the figures must know. `loaderNodes`: of each loader of a trial. */
  warnings?(loaderNodes: readonly string[]): readonly string[];
  /** Removes what the target itself made. Safe to call twice, and after a failure. */
  close(): Promise<void>;
}

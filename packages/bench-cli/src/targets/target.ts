/**
 * Where servers run. A target deploys the instances of one case, observes them while they are measured and
 * removes them; the measuring code does not know whether they are processes or pods.
 */
import type { ZoneSet } from '@dinodns-bench/zones';
import type { CpuLimitMethod, InstanceRecord, Mode, Observation, Transport } from '../results/record.ts';
import type { ServerKind } from '../servers/server.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

export interface DeployRequest {
  readonly server: ServerKind;
  /** How the server's program is called; see `InstanceRequest.program`. */
  readonly program: readonly string[];
  readonly zoneSet: ZoneSet;
  readonly mode: Mode;
  readonly transport: Transport;
  /** CPU allowance of each instance, in cores; one entry for each instance. */
  readonly allowances: readonly number[];
  /** Directory that receives the raw logs of the instances. */
  readonly logDirectory: string;
  /** Aborted when the run is interrupted: the deployment is given up and removed. */
  readonly signal: AbortSignal;
}

/** A measuring window; ended once. */
export interface ObservationWindow {
  end(): Promise<Observation>;
}

export interface Deployment {
  readonly instances: readonly InstanceRecord[];
  readonly endpoints: readonly Endpoint[];
  /** Configuration files of the first instance by name, for the record. */
  readonly files: Readonly<Record<string, string>>;
  /** Begins to observe all processes of all instances. */
  observe(): Promise<ObservationWindow>;
  /** Rejects with `E_SERVER_DIED` and the last log lines as soon as an instance ends before `remove`. Never resolves. */
  readonly died: Promise<never>;
  /** The last log lines of all instances. */
  lastLogLines(): readonly string[];
  /** Stops everything and deletes everything that the deployment made. Safe to call twice. */
  remove(): Promise<void>;
}

export interface Target {
  readonly kind: 'local' | 'kubernetes';
  /** How CPU limits are set here, decided once for the run. */
  readonly cpuLimits: { readonly method: CpuLimitMethod; readonly reason: string | null };
  deploy(request: DeployRequest): Promise<Deployment>;
  /** Removes what the target itself made. Safe to call twice, and after a failure. */
  close(): Promise<void>;
}

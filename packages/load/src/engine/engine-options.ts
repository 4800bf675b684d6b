/** The options of an engine. */
import type { Check } from '../message/expectation.ts';
import type { Workload } from '../workload/workload.ts';
import type { Measurements } from './measurements.ts';

export interface EngineOptions {
  readonly workload: Workload;
  readonly measurements: Measurements;
  /** Maximum queries (or lookups) in flight; null for an open loop. */
  readonly window: number | null;
  readonly timeoutNs: number;
  /** How often an unanswered query is sent again. */
  readonly retries: number;
  readonly check: Check | null;
  /** Whether answers may have an extended response code in an OPT record. */
  readonly edns: boolean;
  /** The client's DNS cookie, if the server's is to be learnt and returned; else null. */
  readonly cookie: Uint8Array | null;
}

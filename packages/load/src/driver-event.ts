/** What `driver.ts` reports to its parent: one JSON value per line on standard output. */
import type { CannonResult, Interval } from './result/result.ts';

export type DriverEvent =
  /** The first query has left. */
  | { readonly event: 'started' }
  | {
      readonly event: 'interval';
      readonly toSeconds: number;
      readonly qps: number;
      /** Queries of the interval that were sent and answered, and those that were given up: sent a time-out ago. */
      readonly sent: number;
      readonly answered: number;
      readonly lost: number;
      /** Of its answers: by response code, the longest latency, and when those without an error came, as in `Interval`. */
      readonly codes: Interval['codes'];
      readonly slowestSeconds: number | null;
      readonly goodSeconds: Interval['goodSeconds'];
    }
  | { readonly event: 'result'; readonly result: CannonResult }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly fix: string };

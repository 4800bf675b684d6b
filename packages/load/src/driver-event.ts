/** What `driver.ts` reports to its parent: one JSON value per line on standard output. */
import type { CannonResult } from './result/result.ts';

export type DriverEvent =
  /** The first query has left. */
  | { readonly event: 'started' }
  | { readonly event: 'interval'; readonly toSeconds: number; readonly qps: number }
  | { readonly event: 'result'; readonly result: CannonResult }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly fix: string };

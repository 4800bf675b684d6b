/** What `driver.ts` tells the program that started it, one JSON value on each line of its standard output. */
import type { CannonResult } from './result/result.ts';

export type DriverEvent =
  /** The first query has left. */
  | { readonly event: 'started' }
  | { readonly event: 'interval'; readonly toSeconds: number; readonly qps: number }
  | { readonly event: 'result'; readonly result: CannonResult }
  | { readonly event: 'error'; readonly code: string; readonly message: string; readonly fix: string };

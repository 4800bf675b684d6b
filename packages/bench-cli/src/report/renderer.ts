/** What a report is. */
import type { RunRecord } from '../results/record.ts';
import type { DeltaDefinition } from '../stats/deltas.ts';

export interface RenderOptions {
  readonly delta: DeltaDefinition;
  /** ANSI colours. Default: none. */
  readonly color?: boolean;
  /** Width of the terminal in columns. Default: 80. */
  readonly columns?: number;
}

export interface Renderer {
  /** Name in `--format`. */
  readonly name: string;
  /** Name of the file beside the record; null for one that is only shown. */
  readonly fileName: string | null;
  readonly description: string;
  /** Pure; ends with a line break. */
  render(record: RunRecord, options: RenderOptions): string;
}

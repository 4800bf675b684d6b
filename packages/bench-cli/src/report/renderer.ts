/** The interface of a report, and what all reports have in common. */
import type { RawOutput } from '../results/raw-output.ts';
import type { RunRecord } from '../results/record.ts';
import type { DeltaDefinition } from '../stats/deltas.ts';
import { collectGarbage } from './collect.ts';
import type { DocumentLead, Finding, ReportDocument } from './document/document.ts';
import type { PostSettings } from './front-matter.ts';

export interface RenderOptions {
  readonly delta: DeltaDefinition;
  /** ANSI colours. Default: none. */
  readonly color?: boolean;
  /** Width of the terminal in columns. Default: 80. */
  readonly columns?: number;
  /** For the front matter of a post. Default: what the record says. */
  readonly post?: PostSettings | undefined;
  /** What tools printed, by trial, for reports that show it. Default: none. */
  readonly raw?: RawOutput;
  /** Whether the charts are files beside the text (`charts/NAME.svg`), which shows them then. Default: no. */
  readonly hasCharts?: boolean;
}

interface Named {
  /** Name in `--format`. */
  readonly name: string;
  /** Other names for it. */
  readonly aliases?: readonly string[];
  readonly description: string;
}

/** A report that is one text: to stdout when asked for alone, else a file. */
export interface Renderer<R = RunRecord> extends Named {
  /** Name of the file beside the record; null for one that is only shown. */
  readonly fileName: string | null;
  /** True for a file that every run leaves beside its record; the others are made on request. Default: false. */
  readonly isRoutine?: boolean;
  /** Pure; ends with a line break. */
  render(record: R, options: RenderOptions): string;
}

export interface ReportFile {
  /** Relative to the run's folder, with forward slashes. */
  readonly path: string;
  readonly content: string | Uint8Array;
}

/** A chart as a file, and its figures in the units of its axes, to nine digits. */
export interface Picture {
  readonly title: string;
  readonly caption: string;
  /** Adapts to light and dark. */
  readonly svg: string;
  readonly columns: ReportDocument['data']['columns'];
  readonly rows: ReportDocument['data']['rows'];
}

/** A run in short, for a page that shows many. Texts are plain. */
export interface Brief {
  /** What was asked: `Loss by load`. Runs of one question have the same. */
  readonly question: string;
  readonly title: string;
  /** Null where the findings say it all. */
  readonly lead: DocumentLead | null;
  /** The result, or the first of several, in a sentence or two. */
  readonly sentence: string;
  /** How the run ended. */
  readonly headline: string;
  readonly state: ReportDocument['state'];
  /** Day and machine, then trials and the like. */
  readonly facts: readonly string[];
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** Null where there is nothing to draw. */
  readonly picture: Picture | null;
}

/** A report that is a file that needs time to be made, or several files. */
export interface Bundle<R = RunRecord> extends Named {
  readonly isRoutine?: boolean;
  /**
   * Whether the first file, if this format alone is asked for, goes to stdout too: `always`, or `piped`, only where
   * stdout is no terminal.
   */
  readonly shown: 'always' | 'piped' | 'never';
  /** Pure. One after the other, so that a large one can be written and forgotten before the next is made. */
  files(record: R, options: RenderOptions): AsyncIterable<ReportFile>;
  /** The run in short, of the one format that says it. */
  brief?(record: R, options: Pick<RenderOptions, 'delta'>): Promise<Brief>;
}

/** A report on records of one kind, by default those of `compare`. */
export type Format<R = RunRecord> = Renderer<R> | Bundle<R>;

export function isBundle<R>(format: Format<R>): format is Bundle<R> {
  return 'files' in format;
}

/** The format of that name or alias, or undefined. */
export function findFormat<F extends Pick<Format, 'name' | 'aliases'>>(
  name: string,
  among: readonly F[],
): F | undefined {
  return among.find((format) => format.name === name || format.aliases?.includes(name));
}

/** The text report of that name or alias, or undefined. */
export function findRenderer<R>(name: string, among: readonly Format<R>[]): Renderer<R> | undefined {
  const format = findFormat(name, among);
  return format === undefined || isBundle(format) ? undefined : format;
}

function* textFile<R>(format: Renderer<R>, record: R, options: RenderOptions): Generator<ReportFile> {
  if (format.fileName !== null) yield { path: format.fileName, content: format.render(record, options) };
}

/** Characters; only records of thousands of trials make such files. */
const LARGE = 1_000_000;

/** What the formats leave on disk, in their order: nothing for one that is only shown. */
export async function* filesOf<R>(
  wanted: readonly Format<R>[],
  record: R,
  options: RenderOptions,
): AsyncGenerator<ReportFile> {
  const hasCharts = wanted.some(({ name }) => name === 'svg');
  const plain = { ...options, color: false, hasCharts };
  for (const format of wanted) {
    const files = isBundle(format) ? format.files(record, plain) : textFile(format, record, plain);
    for await (const file of files) {
      const isLarge = file.content.length >= LARGE;
      yield file;
      // Making it left garbage of several times its size: free it before making the next one.
      if (isLarge) collectGarbage('major');
    }
  }
}

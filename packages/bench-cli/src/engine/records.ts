/**
 * What an experiment keeps of its runs, in a form in which commands can use the records of any experiment alike: the
 * record's type stays within `recordsOf`.
 */
import { type Entry, entryOfHeader } from '../history/entry.ts';
import {
  type Brief,
  type Format,
  filesOf,
  findFormat,
  findRenderer,
  isBundle,
  type RenderOptions,
  type ReportFile,
} from '../report/renderer.ts';
import { recordJsonSchema } from '../results/json-schema.ts';
import { parseRecordAs } from '../results/parse-record.ts';
import type { RecordHeader, RecordKind } from '../results/record-kind.ts';
import type { FoundRun } from '../results/store.ts';
import type { DeltaDefinition } from '../stats/deltas.ts';

/** What a command needs to know of a format without a record. */
export interface FormatFacts {
  /** Name in `--format`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** True for files that every run leaves beside its record. */
  readonly isRoutine: boolean;
  /** `text`: a text for stdout or a file; otherwise as in `Bundle`. */
  readonly shown: 'text' | 'always' | 'piped' | 'never';
}

/** A record that was read, and what can be done with it. */
export interface OpenedRecord {
  readonly header: RecordHeader;
  /** The definition of differences that its reports use unless asked otherwise. */
  readonly delta: DeltaDefinition;
  /** The result in one line, for lists. */
  readonly summary: string;
  /** Trials whose tools left output in `raw/`, by their place in the run. */
  readonly trials: readonly { readonly key: string; readonly order: number }[];
  /** As the history sees it. */
  entry(): Entry;
  /** The text report of that name; undefined for one that there is not. */
  render(name: string, options: RenderOptions): string | undefined;
  /** The run in short; null for an experiment without a page. */
  brief(options: Pick<RenderOptions, 'delta'>): Promise<Brief> | null;
  /** The files of these formats, in their order. */
  files(names: readonly string[], options: RenderOptions): AsyncGenerator<ReportFile>;
}

export interface Records {
  readonly kind: Omit<RecordKind<unknown>, 'schema'>;
  /** In the order of `--format`. */
  readonly formats: readonly FormatFacts[];
  /** The text of the kind's `schemaFile`. */
  jsonSchema(): string;
  /** Throws as `parseRecordAs` does. */
  open(run: Pick<FoundRun, 'text' | 'path'>): OpenedRecord;
}

/** What an experiment declares of its records. */
export interface RecordsDefinition<R extends RecordHeader> {
  readonly kind: RecordKind<R>;
  /** In the order of `--format`; the formats of `report/document` serve every experiment. */
  readonly formats: readonly Format<R>[];
  /** The result in one line, without a line break. */
  summarize(record: R): string;
  /** Default: `relative`. */
  deltaOf?(record: R): DeltaDefinition;
  /** Default: none. */
  trialsOf?(record: R): OpenedRecord['trials'];
  /** As the history sees it. Default: a run that can be listed, of which nothing can be compared. */
  entryOf?(record: R, summary: string): Entry;
}

function factsOf<R>(format: Format<R>): FormatFacts {
  const { name, aliases = [], description, isRoutine = false } = format;
  return { name, aliases, description, isRoutine, shown: isBundle(format) ? format.shown : 'text' };
}

export function recordsOf<R extends RecordHeader>(definition: RecordsDefinition<R>): Records {
  const { kind, formats, summarize, deltaOf, trialsOf, entryOf } = definition;
  return {
    kind,
    formats: formats.map(factsOf),
    jsonSchema: () => recordJsonSchema(kind),
    open({ text, path }) {
      const record = parseRecordAs(kind, text, path);
      return {
        header: record,
        delta: deltaOf?.(record) ?? 'relative',
        summary: summarize(record),
        trials: trialsOf?.(record) ?? [],
        entry: () =>
          entryOf?.(record, summarize(record)) ?? entryOfHeader(record, kind.experiment, summarize(record)),
        render: (name, options) => findRenderer(name, formats)?.render(record, options),
        brief: (options) =>
          formats
            .filter(isBundle)
            .find((format) => format.brief !== undefined)
            ?.brief?.(record, options) ?? null,
        files: (names, options) =>
          filesOf(
            names.flatMap((name) => findFormat(name, formats) ?? []),
            record,
            options,
          ),
      };
    },
  };
}

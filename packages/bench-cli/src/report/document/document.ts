/**
 * A report without its form: sentences, tables and charts, which `documentFormats` renders for terminals, as Markdown,
 * as a page, as a post, as pictures and for spreadsheets. An experiment makes one of its record, and has them all.
 *
 * Texts are plain: no markup, no line breaks. Figures in cells are formatted already; `data` has them unrounded.
 */
import type { SummaryStatistic } from '../../results/record.ts';
import { BENCH_VERSION } from '../../version.ts';

/** Where a report is read. */
export type Medium = 'terminal' | 'markdown' | 'page' | 'post';

/** What a reader should feel about a figure or a verdict; `even` for what decides nothing. */
export type Tone = 'good' | 'bad' | 'even' | 'warn';

export interface Cell {
  readonly text: string;
  /** Default: none. */
  readonly tone?: Tone;
  /** On a line of its own below the text, smaller: an interval. Default: none. */
  readonly below?: string;
  /** Of another page, where that line leads. Default: nowhere. */
  readonly address?: string;
}

export interface Column {
  readonly title: string;
  /** Below the title: what the lower lines of the cells are. Default: none. */
  readonly below?: string;
  /** Aligned right. Default: false. */
  readonly isNumber?: boolean;
}

/** The first column names the row. */
export interface TableBlock {
  readonly kind: 'table';
  /** What it shows, for readers who do not see the page. */
  readonly title: string;
  readonly columns: readonly Column[];
  /** As many cells as there are columns. A no-break space (U+00A0) keeps words on one line. */
  readonly rows: readonly (readonly (Cell | string)[])[];
}

export interface CodeBlock {
  readonly kind: 'code';
  readonly text: string;
  readonly language: string;
  /** A page folds it below these words. Default: it is shown. */
  readonly summary?: string;
}

/** A cell of a table that readers sort. */
export interface CaseCell extends Cell {
  /** The value to sort by; null goes to the end. */
  readonly sort: string | number | null;
  /** What the figure amounts to, with what it rests on as a tooltip. Default: none. */
  readonly verdict?: Required<Pick<Cell, 'text' | 'tone'>> & { readonly tip: string };
  /** Each with an explanation as a tooltip. Default: none. */
  readonly marks?: readonly { readonly name: string; readonly text: string; readonly tip: string }[];
}

/** A trial of a case. */
export interface TrialRow {
  /** In the record: the page shows what tools printed during it. */
  readonly key: string;
  /** As many as there are columns; of a failed trial, the first two. */
  readonly cells: readonly string[];
  /** Null for a trial that succeeded. */
  readonly failure: {
    readonly code: string;
    readonly text: string;
    readonly evidence: readonly string[];
  } | null;
  readonly commands: readonly string[];
  /** What each part of the server did; null where it has none. */
  readonly parts: TableBlock | null;
}

/** The table of cases, which readers sort and filter, and the trials of each. Only pages show it. */
export interface CasesBlock {
  readonly kind: 'cases';
  /** The first names the case. A tip explains the column. */
  readonly columns: readonly (Column & { readonly tip: string })[];
  readonly trialColumns: readonly string[];
  readonly rows: readonly {
    readonly series: string;
    /** Of the list of its trials. */
    readonly title: string;
    readonly group: string;
    /** By the name of the field. Empty for what only has trials. */
    readonly filters: Readonly<Record<string, string>>;
    /** As many as there are columns; none for what only has trials. */
    readonly cells: readonly CaseCell[];
    readonly trials: readonly TrialRow[];
  }[];
  /** What the marks mean. */
  readonly legend: readonly (readonly [label: string, explanation: string])[];
}

export type Block = (
  | CasesBlock
  /** `isNote`: it qualifies what stands above it. */
  | { readonly kind: 'text'; readonly text: string; readonly isNote?: boolean }
  /** Within a section. */
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  /** Names and values, such as conditions. */
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }
  | CodeBlock
  | TableBlock
  | { readonly kind: 'chart'; readonly chart: DocumentChart }
) & {
  /** Default: everywhere. */
  readonly on?: readonly Medium[];
};

export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
  /** False for what a terminal need not show, such as the environment. Default: true. */
  readonly isBrief?: boolean;
}

/** What the charts tell apart by colour and shape: versions, servers, configurations. */
export interface Series {
  /** As points name it. */
  readonly name: string;
  /** For people. */
  readonly title: string;
}

interface ChartTexts {
  /** Name of its files. */
  readonly name: string;
  readonly title: string;
  /** What is drawn, in sentences: units, what whiskers and shades are. */
  readonly caption: string;
}

/** A figure with its interval, for each series in each group. */
export interface IntervalChart extends ChartTexts {
  readonly type: 'intervals';
  /** With its unit: `millicores`. */
  readonly axis: string;
  readonly groups: readonly {
    /** In lines. */
    readonly label: string;
    readonly points: readonly {
      readonly series: string;
      /** Null where there is no result. */
      readonly value: number | null;
      /** Null without an interval. */
      readonly low: number | null;
      readonly high: number | null;
      /** The figures it rests on, such as those of placements, drawn beside it. Default: none. */
      readonly samples?: readonly number[];
      /** Of the samples, like `tip`. Default: none. */
      readonly sampleTips?: readonly string[];
      /** Above the whisker: `†`. Default: none. */
      readonly mark?: string;
      /** As a tooltip and for screen readers. */
      readonly tip: string;
    }[];
  }[];
}

/** A statistic in such a chart, whose axis has `scale` for one of the base unit. */
export function intervalOf({ median, low, high, n }: SummaryStatistic, scale: number) {
  // The interval of two trials is many times as wide as they are apart.
  const end = (value: number | null) => (value === null || n < 3 ? null : value * scale);
  return { value: median * scale, low: end(low), high: end(high) };
}

/** Differences from a baseline as shares of it, one below the other. */
export interface DifferenceChart extends ChartTexts {
  readonly type: 'differences';
  readonly axis: string;
  readonly rows: readonly {
    /** In lines. */
    readonly label: readonly string[];
    readonly series: string;
    readonly value: number;
    /** Null without an interval. */
    readonly low: number | null;
    readonly high: number | null;
    /** Before the figure: `at least `. */
    readonly bound: string;
    /** As a tooltip and for screen readers. */
    readonly tip: string;
  }[];
  /** Differences of up to `size` that mean nothing, between two rows, counted from 0. */
  readonly bands: readonly { readonly from: number; readonly to: number; readonly size: number }[];
}

/** Lines over an axis, such as time or the number of services, in one panel or several with the same axes. */
export interface LineChart extends ChartTexts {
  readonly type: 'lines';
  readonly xAxis: string;
  readonly yAxis: string;
  /** Default: `linear`. */
  readonly xScale?: 'linear' | 'log';
  /** Default: `linear`. */
  readonly yScale?: 'linear' | 'log';
  /** Labels of the horizontal axis. Default: as suits the figures. */
  readonly xTicks?: readonly { readonly at: number; readonly label: string }[];
  /** Whether the horizontal axis begins at zero. Default: false. */
  readonly xFromZero?: boolean;
  /** Whether the vertical axis begins at zero. Default: true. */
  readonly fromZero?: boolean;
  readonly panels: readonly {
    /** Empty for the only one. */
    readonly title: string;
    readonly lines: readonly {
      readonly series: string;
      /** Default: true. */
      readonly isMarked?: boolean;
      /** Default: false. */
      readonly isDashed?: boolean;
      /** Whether a line joins the points. Default: true. */
      readonly isJoined?: boolean;
      readonly points: readonly {
        readonly x: number;
        readonly y: number;
        readonly low?: number;
        readonly high?: number;
        /** Default: false. */
        readonly isRinged?: boolean;
        readonly tip: string;
      }[];
    }[];
    /** Shaded stretches of the horizontal axis, in the colour of a series or, without one, in grey. */
    readonly bands?: readonly {
      readonly from: number;
      readonly to: number;
      readonly series?: string;
      readonly label?: string;
    }[];
    /** Horizontal lines, such as limits. */
    readonly marks?: readonly { readonly y: number; readonly label: string }[];
  }[];
}

export type DocumentChart = IntervalChart | DifferenceChart | LineChart;

export interface Finding {
  /** What it is about. */
  readonly subject: string;
  /** Findings of a group are read together; one that is the title of a section, below its tables. Default: none. */
  readonly group?: string;
  /** Of the charts, for its sign. Default: none. */
  readonly series?: string;
  /** The verdict in a word or a figure: `+4.6 %`. */
  readonly badge: Cell;
  readonly sentence: string;
}

/** The result for a reader in a hurry. */
export interface DocumentLead {
  readonly text: string;
  /** What the bars are: `CPU time per query (less is better)`. */
  readonly caption: string;
  readonly bars: readonly {
    readonly series: string;
    readonly title: string;
    /** Of the longest bar, from 0 to 1. */
    readonly share: number;
    /** With its unit: `16.1 µs`, `at least 42,009`. */
    readonly value: string;
  }[];
}

export interface ReportDocument {
  /** Above the title: `CoreDNS swap`. */
  readonly kind: string;
  readonly title: string;
  readonly state: 'complete' | 'interrupted' | 'failed-trials';
  /** What the title announces. Default: nothing that is good or bad. */
  readonly tone?: Tone;
  /** How the run ended, in one sentence. */
  readonly headline: string;
  /** Below the title: date, place, run. */
  readonly facts: readonly string[];
  /** Default: none. */
  readonly lead?: DocumentLead;
  readonly findings: readonly Finding[];
  /** To be read with care, in sentences. */
  readonly warnings: readonly string[];
  readonly series: readonly Series[];
  readonly sections: readonly Section[];
  /** For spreadsheets: base units, nothing rounded, null for no figure. */
  readonly data: {
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | number | boolean | null)[])[];
  };
  /** What a post needs for its front matter. */
  readonly post: {
    readonly slug: string;
    readonly description: string;
    readonly tags: readonly string[];
    /** `2026-11-22` */
    readonly date: string;
    /** Default: that of the report. */
    readonly title?: string;
    /** Its beginning, which says all that the findings say. Default: the description, and the findings after it. */
    readonly excerpt?: string;
    /** Of the figures, below the first picture. Default: none. */
    readonly origin?: string;
    /** In place of the warnings, the most important first. */
    readonly caveats?: readonly string[];
  };
  /** Of bench. */
  readonly version: string;
}

/** A document about runs that were reported already: without charts, figures for spreadsheets and a post of its own. */
export function answer(
  parts: Pick<ReportDocument, 'kind' | 'title' | 'headline' | 'sections'> & Partial<ReportDocument>,
): ReportDocument {
  return {
    state: 'complete',
    ...{ facts: [], findings: [], warnings: [], series: [], version: BENCH_VERSION },
    data: { columns: [], rows: [] },
    post: { slug: '', description: '', tags: [], date: '' },
    ...parts,
  };
}

export const text = (content: string): Block => ({ kind: 'text', text: content });
export const note = (content: string): Block => ({ kind: 'text', text: content, isNote: true });
export const heading = (content: string): Block => ({ kind: 'heading', text: content });
export const list = (items: readonly string[]): Block => ({ kind: 'list', items });
export const facts = (pairs: readonly (readonly [string, string])[]): Block => ({
  kind: 'facts',
  facts: pairs,
});
export const code = (content: string, language = 'sh'): Block => ({ kind: 'code', text: content, language });
export const chart = (drawn: DocumentChart): Block => ({ kind: 'chart', chart: drawn });
/** Those that there are: a section without any is left out. */
export const charts = (...drawn: readonly (DocumentChart | null)[]): Block[] =>
  drawn.flatMap((each) => (each === null ? [] : [chart(each)]));
/** A column may be given by its title. */
export const table = (
  title: string,
  columns: readonly (Column | string)[],
  rows: TableBlock['rows'],
): Block => ({
  ...{ kind: 'table', title, rows },
  columns: columns.map((column) => (typeof column === 'string' ? { title: column } : column)),
});

/** Columns that are aligned right. */
export const numbers = (...titles: readonly string[]): Column[] =>
  titles.map((title) => ({ title, isNumber: true }));
/** Blocks that only some readers see. */
export const only = (on: readonly Medium[], ...shown: readonly Block[]): Block[] =>
  shown.map((block) => ({ ...block, on }));

export function cellOf(cell: Cell | string): Cell {
  return typeof cell === 'string' ? { text: cell } : cell;
}

/** The charts of a document, in its order. */
export function chartsOf({ sections }: ReportDocument): DocumentChart[] {
  return sections.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'chart' ? [block.chart] : [])),
  );
}

function hasContent(block: Block): boolean {
  switch (block.kind) {
    case 'text':
      return block.text !== '';
    case 'list':
      return block.items.length > 0;
    case 'facts':
      return block.facts.length > 0;
    case 'table':
    case 'cases':
      return block.rows.length > 0;
    default:
      return true;
  }
}

/** A heading with nothing before the next one. */
function isBare(block: Block, next: Block | undefined): boolean {
  return block.kind === 'heading' && (next === undefined || next.kind === 'heading');
}

/** Sections without blocks that would be empty, and without those that lost all of theirs. */
export function withoutEmpty(sections: readonly Section[]): Section[] {
  return sections
    .map((section) => {
      const full = section.blocks.filter(hasContent);
      return { ...section, blocks: full.filter((block, index) => !isBare(block, full[index + 1])) };
    })
    .filter(({ blocks }) => blocks.length > 0);
}

/** What readers of `medium` see. */
export function sectionsOn({ sections }: Pick<ReportDocument, 'sections'>, medium: Medium): Section[] {
  return withoutEmpty(
    sections.map((section) => ({
      ...section,
      blocks: section.blocks.filter(({ on }) => on === undefined || on.includes(medium)),
    })),
  );
}

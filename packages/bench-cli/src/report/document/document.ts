/**
 * A report without its form: sentences, tables and charts, which `documentFormats` renders for terminals, as Markdown,
 * as a page, as a post, as pictures and for spreadsheets. An experiment makes one of its record, and has them all.
 *
 * Texts are plain: no markup, no line breaks. Figures in cells are formatted already; `data` has them unrounded.
 */

/** What a reader should feel about a figure or a verdict; `even` for what decides nothing. */
export type Tone = 'good' | 'bad' | 'even' | 'warn';

export interface Cell {
  readonly text: string;
  /** Default: none. */
  readonly tone?: Tone;
}

export interface Column {
  readonly title: string;
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

export interface ChartBlock {
  readonly kind: 'chart';
  readonly chart: DocumentChart;
}

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  /** Names and values, such as conditions. */
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | TableBlock
  | ChartBlock;

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
    readonly label: string;
    readonly points: readonly {
      readonly series: string;
      readonly value: number;
      /** Null without an interval. */
      readonly low: number | null;
      readonly high: number | null;
      /** The figures it rests on, such as those of placements, drawn beside it. Default: none. */
      readonly samples?: readonly number[];
      /** As a tooltip and for screen readers. */
      readonly tip: string;
    }[];
  }[];
}

/** Lines over an axis, such as time or the number of services, in one panel or several with the same axes. */
export interface LineChart extends ChartTexts {
  readonly type: 'lines';
  readonly xAxis: string;
  readonly yAxis: string;
  /** Default: `linear`. */
  readonly xScale?: 'linear' | 'log';
  /** Whether the vertical axis begins at zero. Default: true. */
  readonly fromZero?: boolean;
  readonly panels: readonly {
    /** Empty for the only one. */
    readonly title: string;
    readonly lines: readonly {
      readonly series: string;
      /** Default: true. */
      readonly isMarked?: boolean;
      readonly points: readonly {
        readonly x: number;
        readonly y: number;
        readonly low?: number;
        readonly high?: number;
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

export type DocumentChart = IntervalChart | LineChart;

export interface Finding {
  /** What it is about. */
  readonly subject: string;
  /** The verdict in a word or a figure: `+4.6 %`. */
  readonly badge: Cell;
  readonly sentence: string;
}

export interface ReportDocument {
  /** Above the title: `CoreDNS swap`. */
  readonly kind: string;
  readonly title: string;
  readonly state: 'complete' | 'interrupted' | 'failed-trials';
  /** How the run ended, in one sentence. */
  readonly headline: string;
  /** Below the title: date, place, run. */
  readonly facts: readonly string[];
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
  };
  /** Of bench. */
  readonly version: string;
}

export const text = (content: string): Block => ({ kind: 'text', text: content });
export const list = (items: readonly string[]): Block => ({ kind: 'list', items });
export const facts = (pairs: readonly (readonly [string, string])[]): Block => ({
  kind: 'facts',
  facts: pairs,
});
export const code = (content: string, language = 'sh'): Block => ({ kind: 'code', text: content, language });
export const chart = (drawn: DocumentChart): Block => ({ kind: 'chart', chart: drawn });
export const table = (title: string, columns: TableBlock['columns'], rows: TableBlock['rows']): Block => ({
  kind: 'table',
  title,
  columns,
  rows,
});

export function cellOf(cell: Cell | string): Cell {
  return typeof cell === 'string' ? { text: cell } : cell;
}

/** The charts of a document, in its order. */
export function chartsOf({ sections }: ReportDocument): DocumentChart[] {
  return sections.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'chart' ? [block.chart] : [])),
  );
}

/** Sections without blocks that would be empty, and without those that lost all of theirs. */
export function withoutEmpty(sections: readonly Section[]): Section[] {
  const hasContent = (block: Block) =>
    block.kind === 'text'
      ? block.text !== ''
      : block.kind === 'list'
        ? block.items.length > 0
        : block.kind === 'facts'
          ? block.facts.length > 0
          : block.kind === 'table'
            ? block.rows.length > 0
            : true;
  return sections
    .map((section) => ({ ...section, blocks: section.blocks.filter(hasContent) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** The package has no types of its own. */
declare module 'parse-prometheus-text-format' {
  export interface Metric {
    readonly labels?: Record<string, string>;
    readonly value?: string;
    readonly buckets?: Record<string, string>;
    readonly count?: string;
    readonly sum?: string;
  }
  export interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
    readonly metrics: readonly Metric[];
  }
  export default function parsePrometheusTextFormat(text: string): Family[];
}

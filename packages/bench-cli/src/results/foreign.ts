/**
 * Recognizes files that are not records, so that the error can say more than "not ours". Each line names a tool and
 * the fields of its output; the formats are described in the tools' documentation.
 */

type Json = Readonly<Record<string, unknown>>;

function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}

function has(value: unknown, ...keys: string[]): boolean {
  const object = asObject(value);
  return object !== null && keys.every((key) => Object.hasOwn(object, key));
}

const JSON_FORMATS: readonly (readonly [name: string, matches: (value: unknown) => boolean])[] = [
  ['the results of tiger-bench', (value) => Array.isArray(value) && has(value[0], 'config', 'status')],
  ['the output of dnspyre', (value) => has(value, 'totalRequests', 'queriesPerSecond', 'questionTypes')],
  ['a result of DNS Shotgun', (value) => has(value, 'version', 'stats_sum', 'stats_periodic')],
  ['perf-dash data of kubernetes/perf-tests', (value) => has(value, 'version', 'dataItems')],
  ['a result of oha', (value) => has(value, 'summary', 'responseTimeHistogram')],
  ['a result of autocannon', (value) => has(value, 'requests', 'latency', 'throughput', 'non2xx')],
  ['a summary of k6', (value) => has(value, 'metrics', 'root_group')],
  ['results of hyperfine', hasHyperfineResults],
  ['an npm package.json', (value) => has(value, 'name', 'version', 'dependencies')],
];

function hasHyperfineResults(value: unknown): boolean {
  const results = asObject(value)?.results;
  return Array.isArray(results) && has(results[0], 'command', 'mean', 'times');
}

/** What valid JSON without our mark looks like, as a phrase: "the output of dnspyre", "a list of 3 items". */
export function describeForeignJson(value: unknown): string {
  const known = JSON_FORMATS.find(([, matches]) => matches(value));
  if (known !== undefined) return known[0];
  if (Array.isArray(value)) return `a list of ${value.length} items`;
  const object = asObject(value);
  if (object === null) return value === null ? 'the value null' : `a single ${typeof value}`;
  const keys = Object.keys(object);
  if (keys.length === 0) return 'an empty object';
  const shown = keys.slice(0, 5).map((key) => JSON.stringify(key.slice(0, 40)));
  return `an object with ${shown.join(', ')}${keys.length > shown.length ? ', …' : ''}`;
}

/** What text that is not JSON looks like, or null if unknown: then it is a damaged record. */
export function describeForeignText(text: string): string | null {
  const start = text.slice(0, 2000);
  if (start.includes('DNS Performance Testing Tool')) return 'the text output of dnsperf';
  if (/^\s*<(!doctype|html|svg|\?xml)/i.test(start)) return 'an HTML or XML file';
  if (/^# /.test(start)) return 'a Markdown report';
  if (start.includes('\0')) return 'a binary file';
  return null;
}

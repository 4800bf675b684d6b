/**
 * Turns zod's issues into problems with a fix, in this package's terms.
 */
import { type Problem, suggestion } from '@dinodns-bench/program';
import type { z } from 'zod';
import { parseRecordText, RECORD_EXAMPLES } from './record-text.ts';
import { isRecordType } from './records.ts';

type Issue = z.core.$ZodIssue;

/** What is valid, for every top-level key of a specification. */
export type KeyHelp = Readonly<Record<string, string>>;

/** A value as a user wrote it, shortened. */
export function shown(value: unknown): string {
  const json = typeof value === 'bigint' || typeof value === 'function' ? String(value) : jsonOf(value);
  return json.length > 80 ? `${json.slice(0, 77)}…` : json;
}

/** JSON cannot represent NaN and infinity, which error messages must show; a backslash is shown as it was typed. */
export function jsonOf(value: unknown): string {
  const json = typeof value === 'number' ? undefined : JSON.stringify(value);
  return json?.replaceAll('\\\\', '\\') ?? String(value);
}

/** The problem for one issue; `fallbackFix` is the fix for issues that zod itself found. */
export function describeIssue(issue: Issue, fallbackFix: string): Problem {
  const field = issue.path.filter((part) => typeof part === 'string').join('.');
  switch (issue.code) {
    case 'custom': {
      const fix: unknown = issue.params?.fix;
      return { problem: issue.message, fix: typeof fix === 'string' ? fix : fallbackFix };
    }
    case 'unrecognized_keys':
      return { problem: `unknown key ${issue.keys.map(shown).join(', ')}`, fix: fallbackFix };
    case 'invalid_union':
      if (issue.discriminator !== undefined && 'options' in issue && Array.isArray(issue.options)) {
        return unknownWord(issue.input, issue.discriminator, issue.options);
      }
      break;
    case 'invalid_value':
      return unknownWord(issue.input, field, issue.values);
  }
  const what = issue.input === undefined ? `${field} is missing` : `${field} cannot be ${shown(issue.input)}`;
  return { problem: what, fix: fallbackFix };
}

function unknownWord(input: unknown, field: string, values: readonly unknown[]): Problem {
  const words = values.map(String);
  const given =
    typeof input === 'object' && input !== null && field in input ? Reflect.get(input, field) : input;
  return { problem: `${field} cannot be ${shown(given)}`, fix: suggestion(String(given), words) };
}

/**
 * The problems for `issues`. Array elements are named by position and value, as in
 * `record 2 ("MX 10 127.0.0.1")`; `singular` has the word for an element of each array.
 */
export function problemsOf(
  issues: readonly Issue[],
  input: unknown,
  help: KeyHelp,
  singular: Readonly<Record<string, string>>,
): Problem[] {
  const problems = issues.map((issue) => {
    if (issue.code === 'unrecognized_keys' && issue.path.length === 0) return unknownKeys(issue.keys, help);
    const [key, index] = issue.path;
    if (typeof key !== 'string') {
      return {
        problem: `${shown(input)} is not an object`,
        fix: `give an object with ${Object.keys(help).join(', ')}`,
      };
    }
    if (typeof index !== 'number') return describeIssue(issue, help[key] ?? 'give another value');
    const element = elementOf(input, key, index);
    const fallback = exampleFor(element) ?? help[key] ?? 'give another value';
    const found = describeIssue({ ...issue, path: issue.path.slice(2) }, fallback);
    const subject = `${singular[key] ?? key} ${index + 1} (${typeof element === 'string' ? element : shown(element)})`;
    return { problem: `${subject}: ${found.problem.trim()}`, fix: found.fix };
  });
  // A value can break two rules of a schema (too large and not exact), which is still one problem.
  return [...new Map(problems.map((found) => [found.problem, found])).values()];
}

/** How a record like this one is written, if the element is a record, or the text of one, with a known type. */
function exampleFor(element: unknown): string | undefined {
  if (typeof element === 'string') {
    const parsed = parseRecordText(element);
    return 'problem' in parsed ? undefined : `write it like "${RECORD_EXAMPLES[parsed.type]}"`;
  }
  if (typeof element !== 'object' || element === null || !('type' in element)) return undefined;
  const { type } = element;
  return typeof type === 'string' && isRecordType(type)
    ? `write what the line "${RECORD_EXAMPLES[type]}" says`
    : undefined;
}

function elementOf(input: unknown, key: string, index: number): unknown {
  if (typeof input !== 'object' || input === null) return undefined;
  const array: unknown = Reflect.get(input, key);
  return Array.isArray(array) ? array[index] : undefined;
}

function unknownKeys(keys: readonly string[], help: KeyHelp): Problem {
  const fixes = keys.map((key) => suggestion(key, Object.keys(help)));
  return { problem: `unknown key ${keys.map(shown).join(', ')}`, fix: fixes.join('; ') };
}

/** What is wrong with a specification, and the parts that are valid on their own. */
export interface ParsedSpec<Spec> {
  readonly problems: Problem[];
  /** The keys without a problem, including defaults, for further checks. Complete if there are no problems. */
  readonly valid: Partial<Spec>;
}

/** Parses key by key, so that one bad key does not hide problems with the others. `help` has every key of the schema. */
export function parseByKey<Spec extends object>(
  schema: z.ZodType<Spec>,
  input: unknown,
  help: KeyHelp,
  singular: Readonly<Record<string, string>>,
): ParsedSpec<Spec> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return { problems: [], valid: result.data };
  const { issues } = result.error;
  const problems = problemsOf(issues, input, help, singular);
  if (typeof input !== 'object' || input === null) return { problems, valid: {} };
  const bad = new Set<PropertyKey>(issues.flatMap(({ path }) => path.slice(0, 1)));
  const sound = Object.entries(input).filter(([key]) => key in help && !bad.has(key));
  const valid: Partial<Spec> = schema.parse(Object.fromEntries(sound));
  for (const key of Object.keys(valid)) if (bad.has(key)) Reflect.deleteProperty(valid, key);
  return { problems, valid };
}

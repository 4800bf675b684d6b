/**
 * Objects in YAML as a Go program decodes them into a struct: a key matches the name of a field in any case, a missing
 * key or null leaves the zero value, an unknown key is ignored. Pure.
 */
import { nearest } from '@dinodns-bench/program';

/** Reads one value; throws a `FieldError` for a wrong type. */
export type Read<T> = (value: unknown, context: Context) => T;

/** Where a value stands, and where remarks on it are collected. */
export interface Context {
  /** As in messages: `tests[0].DNSPerf`. */
  readonly path: string;
  /** Keys that were ignored, in sentences. */
  readonly notes: string[];
}

/** A value that a field does not take. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
}

type Readers = Readonly<Record<string, Read<unknown>>>;
type Struct<R extends Readers> = { readonly [K in keyof R]: R[K] extends Read<infer T> ? T : never };

const shown = (value: unknown) => JSON.stringify(value) ?? String(value);

/** @throws FieldError */
function reject({ path }: Context, expected: string, value: unknown): never {
  throw new FieldError(`${path} must be ${expected}, not ${shown(value)}`);
}

const isAbsent = (value: unknown) => value === undefined || value === null;

/** A number or a truth value in place of text is taken as it is written: `CalicoNodeCPULimit: 2`. */
export const text: Read<string> = (value, context) => {
  if (isAbsent(value)) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : reject(context, 'text', value);
};

/** What each of `rules` refuses is not of its kind. */
function numberOf(...rules: readonly (readonly [expected: string, isOne: (value: number) => boolean])[]) {
  const read: Read<number> = (value, context) => {
    if (isAbsent(value)) return 0;
    for (const [expected, isOne] of rules)
      if (typeof value !== 'number' || !isOne(value)) return reject(context, expected, value);
    return Number(value);
  };
  return read;
}

const WHOLE = ['a whole number', Number.isSafeInteger] as const;
export const integer = numberOf(WHOLE);
export const count = numberOf(WHOLE, ['at least 0', (value) => value >= 0]);
export const rate = numberOf(['a number of at least 0', (value) => value >= 0]);

export const flag: Read<boolean> = (value, context) => {
  if (isAbsent(value)) return false;
  return typeof value === 'boolean' ? value : reject(context, 'true or false', value);
};

/** One of the words, or nothing at all. */
export function word<const W extends string>(words: readonly W[]): Read<W | ''> {
  return (value, context) => {
    const given = text(value, context);
    if (given === '') return '';
    return words.find((candidate) => candidate === given) ?? reject(context, words.join(', '), value);
  };
}

function entriesOf(value: unknown, context: Context): [string, unknown][] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
  return reject(context, 'a mapping', value);
}

/** A key in the spelling of the field wins; of other spellings the last one does. */
function valueUnder(entries: readonly [string, unknown][], name: string): unknown {
  const exact = entries.find(([key]) => key === name);
  const others = entries.filter(([key]) => key.toLowerCase() === name.toLowerCase());
  return (exact ?? others.at(-1))?.[1];
}

function ignored(key: string, names: readonly string[], { path }: Context): string {
  const meant = nearest(key, names);
  return `${path}.${key} is not a setting of tiger-bench and is ignored${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/** An object with these fields, in their order. */
export function struct<R extends Readers>(readers: R): Read<Struct<R>> {
  const names = Object.keys(readers);
  const isField = (key: string) => names.some((name) => name.toLowerCase() === key.toLowerCase());
  return (value, context) => {
    const entries = entriesOf(value, context);
    for (const [key] of entries) {
      if (!isField(key)) context.notes.push(ignored(key, names, context));
    }
    const fields = Object.entries(readers).map(([name, read]) => [
      name,
      read(valueUnder(entries, name), { ...context, path: `${context.path}.${name}` }),
    ]);
    return Object.fromEntries(fields) as Struct<R>;
  };
}

/** The object, or null where there is none. */
export function optional<T>(read: Read<T>): Read<T | null> {
  return (value, context) => (isAbsent(value) ? null : read(value, context));
}

/** JSON documents, and pointers into them (RFC 6901). Needs nothing: the guard runs this file, too. */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** One operation of a JSON Patch (RFC 6902). */
export interface PatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: Json;
}

/** `metadata`, `labels`, `a/b` → `/metadata/labels/a~1b`. */
export function pointerOf(...keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value[Number(key)];
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The value that a pointer leads to; null if there is none, because Kubernetes stores no null. */
export function valueAt(document: unknown, pointer: string): unknown {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce(childOf, document) ?? null;
}

/** The text at a pointer; empty if there is none. */
export function textAt(document: unknown, pointer: string): string {
  const value = valueAt(document, pointer);
  return typeof value === 'string' ? value : '';
}

/** Whether two documents are equal; the order of keys does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => isEqual(a[key], b[key]));
}

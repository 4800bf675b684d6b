/**
 * Building blocks of migration steps. A step sees data from a file, in which any part may be missing or of another
 * type: such a part is passed on unchanged, and the schema check that follows reports it.
 */

export type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `object` with the fields of `defaults` that it does not have. */
export function withDefaults(object: Json, defaults: Json): Json {
  return { ...defaults, ...object };
}

/** `object` with the named fields changed: an object itself, of a list every object in it. */
export function mapEntries(object: Json, changes: Readonly<Record<string, (value: Json) => Json>>): Json {
  const changed = Object.entries(changes)
    .filter(([name]) => Object.hasOwn(object, name))
    .map(([name, change]): [string, unknown] => {
      const value = object[name];
      const apply = (item: unknown) => (isObject(item) ? change(item) : item);
      return [name, Array.isArray(value) ? value.map(apply) : apply(value)];
    });
  return { ...object, ...Object.fromEntries(changed) };
}

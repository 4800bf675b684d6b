/**
 * What a setting is. Everything about one is in one declaration: its flag, its help, its schema, its default and
 * its field in the configuration. The rest is derived: environment variables, keys of files, types, documentation.
 */
import type { z } from 'zod';

/** Checked values of settings, under their names. */
type Given = Readonly<Record<string, unknown>>;

export interface Setting {
  /** As commander reads it: `--tier <list>`, `--keep`, `--no-provision`. */
  readonly flag: string;
  readonly description: string;
  /** Reads text as well as typed values. A list is read from text with commas. */
  readonly schema: z.ZodType;
  /** Without one, the setting is optional. */
  readonly default?: unknown;
  /** A default that depends on the servers, or on other settings that are given; undefined where `default` applies. */
  defaultFor?(servers: readonly string[], given: Given): unknown;
  /** Its name in the configuration, if different. */
  readonly field?: string;
  /** Its value in the configuration, if different; `fromField` is the inverse. */
  toField?(value: unknown): unknown;
  fromField?(field: unknown): unknown;
  /** The value as people write it; default `String`. */
  show?(value: unknown): string;
  /** A list of which every entry is measured: no duplicates. */
  readonly distinct?: true;
  /** What tells the entries of a `distinct` list apart, if it is not all of each. */
  identityOf?(entry: unknown): string;
  /** Seldom needed: only the complete help shows it. */
  readonly rare?: true;
  /** Without effect unless this holds; `give` is what makes it hold: `--duet`. */
  readonly needs?: { readonly give: string; met(settings: Readonly<Record<string, unknown>>): boolean };
  /** Has an effect with these values of `--target` only: elsewhere its flag is refused, and its help says so. */
  readonly targets?: readonly ('local' | 'kubernetes')[];
  /** The flag under which it was known: it still works, and says its new name. */
  readonly formerly?: `--${string}`;
  /** Whether the command that repeats a run names it: unless it is the default, always, or never. */
  readonly inCommand?: 'always' | 'never';
}

export type SettingTable = Readonly<Record<string, Setting>>;

type Value<S extends Setting> =
  z.output<S['schema']> extends readonly (infer Item)[] ? readonly Item[] : z.output<S['schema']>;
type Named<T> = keyof T & string;
type WithDefault<T extends SettingTable> = {
  [K in Named<T>]: T[K] extends { default: unknown } | { defaultFor: unknown } ? K : never;
}[Named<T>];

/** Checked values under their names; optional ones are absent, not undefined. */
export type SettingsOf<T extends SettingTable> = {
  readonly [K in WithDefault<T>]: Value<T[K]>;
} & {
  readonly [K in Exclude<Named<T>, WithDefault<T>>]?: Value<T[K]>;
};

/** Values in a configuration, under the names of their fields; optional ones are null where they are not set. */
export type FieldsOf<T extends SettingTable> = {
  readonly [K in Named<T> as T[K] extends { field: infer Field extends string } ? Field : K]: T[K] extends {
    toField: (value: never) => infer Field;
  }
    ? Field
    : K extends WithDefault<T>
      ? Value<T[K]>
      : Value<T[K]> | null;
};

/** The defaults that do not depend on anything. */
export type DefaultsOf<T extends SettingTable> = {
  readonly [K in Named<T> as T[K] extends { default: unknown } ? K : never]: T[K] extends {
    default: infer Default;
  }
    ? Default
    : never;
};

export function defaultsOf<T extends SettingTable>(table: T): DefaultsOf<T> {
  const entries = Object.entries(table).filter(([, setting]) => setting.default !== undefined);
  return Object.fromEntries(entries.map(([name, setting]) => [name, setting.default])) as DefaultsOf<T>;
}

/** The default of a run with these settings; undefined if there is none. */
export function defaultOf(setting: Setting, servers: readonly string[], given: Given): unknown {
  return setting.defaultFor?.(servers, given) ?? setting.default;
}

/** `--tier` of `--tier <list>`. */
export function flagName({ flag }: Setting): string {
  return flag.split(' ')[0] ?? flag;
}

/** A value as people write it. */
export function shownValue({ show = String }: Setting, value: unknown): string {
  return show(value);
}

/** From settings to the fields of a configuration. */
export function toFields<T extends SettingTable>(table: T, settings: Readonly<Record<string, unknown>>) {
  const entries = Object.entries<Setting>(table).map(([name, setting]) => {
    const value = settings[name];
    return [setting.field ?? name, setting.toField === undefined ? (value ?? null) : setting.toField(value)];
  });
  return Object.fromEntries(entries) as FieldsOf<T>;
}

/** From the fields of a configuration to the settings that produce it. */
export function fromFields(table: SettingTable, fields: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(table).flatMap(([name, { field = name, fromField }]) => {
    const value = fields[field];
    return value === null ? [] : [[name, fromField === undefined ? value : fromField(value)] as const];
  });
  return Object.fromEntries(entries);
}

/** What an experiment varies besides its subjects: `--factors 'lameduck=0,5,30;sockets=reused,fresh'`. Pure. */
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import type { Point } from './experiment.ts';

type Value = string | number;
type Target = 'local' | 'kubernetes';

export interface Factor {
  readonly targets: readonly Target[];
  /** Null for a text that is no value of it. */
  read(text: string): Value | null;
  /** Its values, for people. */
  readonly values: string;
}
type Table = Readonly<Record<string, Factor>>;
/** Values by the name of their factor; without those that are not varied. */
export type Factors<T extends Table = Table> = Readonly<Partial<Record<keyof T & string, readonly Value[]>>>;

export const wholeNumbers = (least: number, most: number): Pick<Factor, 'read' | 'values'> => ({
  read: (text) => (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : null),
  values: `whole numbers from ${least} to ${most}`,
});

export const words = (...all: readonly string[]): Pick<Factor, 'read' | 'values'> => ({
  read: (text) => (all.includes(text) ? text : null),
  values: all.join(' and '),
});

/** `a=1,2;b=x` → values by name; null for anything that is no list of factors. */
function parse(table: Table, text: string): Factors | null {
  if (text === '') return {};
  const entries = text.split(';').map((part): [string, Value[]] | null => {
    const [name = '', list = '', ...rest] = part.split('=').map((word) => word.trim());
    const factor = Object.hasOwn(table, name) ? table[name] : undefined;
    if (factor === undefined || rest.length > 0) return null;
    const values = list.split(',').map((word) => factor.read(word.trim()));
    const found = values.filter((value) => value !== null);
    const isGood = found.length === values.length && new Set(found).size === found.length;
    return isGood ? [name, found] : null;
  });
  const good = entries.filter((entry) => entry !== null);
  const isOnce = new Set(good.map(([name]) => name)).size === entries.length;
  return isOnce ? Object.fromEntries(good) : null;
}

/** A file may have a single value instead of a list, or anything else, which is for the schema to refuse. */
export const showFactors = (factors: Readonly<Record<string, unknown>>) =>
  Object.entries(factors)
    .map(([name, values]) => `${name}=${[values].flat().join(',')}`)
    .join(';');

/** From text, or as a record has them. */
export function factorsSchema<T extends Table>(table: T) {
  const known = Object.entries(table).map(([name, { values }]) => `${name} (${values})`);
  const message = `must be NAME=VALUE,VALUE;NAME=VALUE. Factors: ${known.join(', ')}`;
  return z
    .preprocess(
      // A file has them as a record does.
      (value) => (typeof value === 'object' && value !== null ? showFactors({ ...value }) : value),
      z.string(message).refine((text) => parse(table, text) !== null, message),
    )
    .transform((text): Factors<T> => parse(table, text) ?? {});
}

/** All combinations of their values. */
export function pointsOf(factors: Factors): Point[] {
  return Object.entries(factors).reduce<Point[]>(
    (points, [name, values = []]) =>
      points.flatMap((point) => values.map((value) => ({ ...point, [name]: value }))),
    [{}],
  );
}

/** `/lameduck=5/replicas=2`, for keys. */
export const pointKey = (point: Point) =>
  Object.entries(point)
    .map(([name, value]) => `/${name}=${value}`)
    .join('');

/** @throws BenchError `E_CONFIG` for a factor of another target */
export function demandFactors(table: Table, factors: Factors, target: Target): void {
  const wrong = Object.keys(factors).find((name) => table[name]?.targets.includes(target) !== true);
  if (wrong === undefined) return;
  const fix =
    target === 'local' ? 'Add --target kubernetes, or omit it.' : 'Omit it, or --target kubernetes.';
  throw new BenchError('E_CONFIG', `--factors: ${wrong} cannot be varied with --target ${target}`, { fix });
}

/** Filters of cases, as `--exclude` takes them: `server=knot,transport=tcp;tier=4`. Pure. */
import { nearest } from '@dinodns-bench/program';
import { z } from 'zod';
import { caseNameOf } from './server-name.ts';

/** What tells the cases of a run apart. */
const AXES = ['server', 'tier', 'mode', 'workload', 'rate', 'transport'] as const;
type Axis = (typeof AXES)[number];

/** Values of some axes. A case fits if it has all of them. */
export type CaseFilter = Readonly<Partial<Record<Axis, string>>>;

/** A case as filters see it. */
type FilteredCase = Readonly<Record<Exclude<Axis, 'rate'>, string | number>> & {
  /** Null for no limit, `rate=max`. */
  readonly ratePerSecond: number | null;
};

/** `server=knot,tier=4` */
export function caseFilterText(filter: CaseFilter): string {
  return Object.entries(filter)
    .map(([axis, value]) => `${axis}=${value}`)
    .join(',');
}

/** Where a case is on an axis, as filters write it. */
function axisText(item: FilteredCase, axis: Axis): string {
  return String(axis === 'rate' ? (item.ratePerSecond ?? 'max') : item[axis]);
}

/** `4.0` and `4` are the same tier, `coredns-file` and `coredns+file` the same server. */
function normalized(axis: Axis, value: string): string {
  if (axis === 'server') return caseNameOf(value);
  return (axis === 'tier' || axis === 'rate') && value !== 'max' ? String(Number(value)) : value;
}

export function fitsFilter(item: FilteredCase, filter: CaseFilter): boolean {
  return AXES.every((axis) => {
    const wanted = filter[axis];
    return wanted === undefined || axisText(item, axis) === normalized(axis, wanted);
  });
}

const isAxis = (name: string): name is Axis => AXES.some((axis) => axis === name);

const filterSchema = z
  .string('must be text, for example server=knot,tier=4')
  .transform((text, context): CaseFilter => {
    const filter: Partial<Record<Axis, string>> = {};
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    };
    for (const part of text.split(',').map((item) => item.trim())) {
      const at = part.indexOf('=');
      const name = part.slice(0, Math.max(0, at)).trim();
      const value = part.slice(at + 1).trim();
      if (!isAxis(name)) {
        const suggestion = nearest(name, [...AXES]);
        const hint = suggestion === undefined ? `is one of ${AXES.join(', ')}` : `may be "${suggestion}"`;
        return refuse(`must be AXIS=VALUE, for example server=knot; the axis of "${part}" ${hint}`);
      }
      if (value === '') return refuse(`must be AXIS=VALUE; "${part}" has no value`);
      filter[name] = value;
    }
    return filter;
  });

/** Several filters: from text with semicolons, or a list of texts or objects. */
export const caseFilters = z.preprocess((value) => {
  const items = typeof value === 'string' ? value.split(';') : Array.isArray(value) ? value : [value];
  return items.flatMap((item) => {
    if (typeof item === 'string') return item.trim() === '' ? [] : [item];
    return [typeof item === 'object' && item !== null ? caseFilterText(item) : item];
  });
}, z.array(filterSchema));

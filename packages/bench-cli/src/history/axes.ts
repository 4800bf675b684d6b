/** What tells the cases of an entry apart: its subject, and what is varied besides. Pure. */
import { caseNameOf } from '../config/server-name.ts';
import { formatCount, formatCpus } from '../report/numbers.ts';
import { type EntryCase, UNLIMITED } from './entry.ts';

export type Placed = Pick<EntryCase, 'subject' | 'point'>;

/** Values of some axes. A case fits if it has all of them. */
export type Selector = Readonly<Record<string, string>>;

const SUBJECT = 'subject';
/** Another name of the subject where that is a server. */
const SERVER = 'server';

/** The names that selectors take for these cases. */
export function axesOf(cases: readonly Placed[]): string[] {
  return [...new Set([SERVER, ...cases.flatMap(({ point }) => Object.keys(point)), SUBJECT])];
}

export function valueOn({ subject, point }: Placed, axis: string): string | number | null {
  return point[axis] ?? (axis === SUBJECT || axis === SERVER ? subject : null);
}

/** `4.0` and `4` are the same tier, `coredns-file` and `coredns+file` the same server. */
function isValue(value: string | number | null, wanted: string): boolean {
  if (value === null) return false;
  return typeof value === 'number'
    ? Number(wanted) === value
    : value === wanted || value === caseNameOf(wanted);
}

export function fits(item: Placed, selector: Selector): boolean {
  return Object.entries(selector).every(([axis, wanted]) => isValue(valueOn(item, axis), wanted));
}

/** The same for cases that can be compared: equal in everything but the axes to leave out. */
export function placeKey({ subject, point }: Placed, leftOut: readonly string[] = []): string {
  const isWithoutSubject =
    leftOut.includes(SUBJECT) || (leftOut.includes(SERVER) && point.server === undefined);
  const others = Object.entries(point).filter(([name]) => !leftOut.includes(name));
  return JSON.stringify([
    isWithoutSubject ? null : subject,
    ...others.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

/** `0.5`, `15,820` */
export function numberText(value: number): string {
  return value >= 1000 ? formatCount(value) : formatCpus(value);
}

/** `1 pod`, `15,820 objects` */
function amountOf(word: string): (value: number) => string {
  return (value) => `${numberText(value)} ${word}${value === 1 ? '' : 's'}`;
}

/** Numbers that say little after their name. */
const NUMBER_TEXTS: Readonly<Record<string, (value: number) => string>> = {
  rate: (value) => `${formatCount(value)} queries/s`,
  objects: amountOf('object'),
  services: amountOf('service'),
  endpoints: amountOf('endpoint'),
  replicas: amountOf('pod'),
  lameduck: (value) => (value === 0 ? 'no lameduck' : `lameduck ${value}\u00a0s`),
  cache: (value) => (value === 0 ? 'no cache' : `cache ${value}\u00a0s`),
};

/** Words that say little by themselves. */
const WORD_TEXTS: Readonly<Record<string, (value: string) => string | null>> = {
  rate: (value) => (value === UNLIMITED ? null : value),
  sockets: (value) => `${value} sockets`,
  serve_stale: (value) => (value === 'on' ? 'stale answers served' : 'stale answers not served'),
};

/** `tier 1`, `2,000 queries/s`, `15,820 objects`; null for a rate without limit. */
export function valueText(name: string, value: string | number): string | null {
  if (typeof value === 'number') return NUMBER_TEXTS[name]?.(value) ?? `${name} ${numberText(value)}`;
  const inWords = WORD_TEXTS[name];
  return inWords === undefined ? value : inWords(value);
}

/** `tier 1, single, half, udp` */
export function pointText({ point }: Pick<Placed, 'point'>): string {
  return Object.entries(point)
    .flatMap(([name, value]) => valueText(name, value) ?? [])
    .join(', ');
}

/** `dinodns, tier 1, single, half, udp` */
export function placeText(item: Placed, unknown: string): string {
  return [item.subject ?? unknown, pointText(item)].filter((part) => part !== '').join(', ');
}

/** How values of settings are read: as text from the command line and the environment, or typed from a file. Pure. */
import { z } from 'zod';
import { parseQuantity } from '../quantity.ts';

/** Turns `"1.5"` into 1.5 and leaves what is not a number for the schema to refuse. */
export function numberFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : value;
}

/** Turns `"1.5"` into 1.5 and, as Kubernetes writes half a core, `"500m"` into 0.5. */
export function coresFromText(value: unknown): unknown {
  const [, thousandths] = /^\s*(\d+)m\s*$/.exec(String(value)) ?? [];
  return thousandths === undefined ? numberFromText(value) : Number(thousandths) / 1000;
}

const SECONDS_PER_UNIT: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600 };

/** Turns `10`, `"10"`, `"10s"`, `"200ms"`, `"2m"` or `"1h"` into seconds. */
function secondsFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|[smh])?\s*$/.exec(value) ?? [];
  if (amount === undefined) return value;
  // Without the noise of binary fractions: 200 ms are 0.2 s.
  return Number((Number(amount) * (SECONDS_PER_UNIT[unit ?? ''] ?? 1)).toPrecision(12));
}

/** Turns `"a, b"` and `7` into lists. */
export function listFromText(value: unknown): unknown {
  if (typeof value === 'string') return value.split(',').map((item) => item.trim());
  return Array.isArray(value) ? value : [value];
}

/**
 * Turns `"2%"` into 0.02. A percentage as text needs its sign: whether `2` means 2 % or 200 % should not be
 * guessed. A number (in a file) is the ratio itself.
 */
export function ratioFromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const [, amount] = /^\s*(\d+(?:\.\d+)?)\s*%\s*$/.exec(value) ?? [];
  return amount === undefined ? value : Number((Number(amount) / 100).toPrecision(12));
}

/** `0.02` as people write it: `2%`. */
export function percentText(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(12))}%`;
}

/** Turns an amount as Kubernetes writes it, `"4Gi"`, into bytes. */
export function quantityFromText(value: unknown): unknown {
  return typeof value === 'string' ? (parseQuantity(value) ?? value) : value;
}

function booleanFromText(value: unknown): unknown {
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  return value;
}

export const number = (schema: z.ZodNumber) => z.preprocess(numberFromText, schema);
export const within = (minimum: number, maximum: number, message: string) =>
  z.number(message).min(minimum, message).max(maximum, message);
export const seconds = (minimum: number, message: string, maximumHours = 7 * 24) => {
  const said = `${message} (one number, in ms, s, m or h; at most ${maximumHours}h)`;
  return z.preprocess(secondsFromText, within(minimum, maximumHours * 3600, said));
};
/** `what`: with its unit. */
export const numberFrom = (minimum: number, maximum: number, what = 'a number') => {
  const message = `must be ${what} from ${minimum} to ${maximum}`;
  return number(within(minimum, maximum, message));
};
export const secondsFrom = (minimum: number, maximum: number) => {
  const message = `must be a duration from ${minimum} to ${maximum} seconds`;
  return z.preprocess(secondsFromText, within(minimum, maximum, message));
};
export const list = <T extends z.ZodType>(item: T, message: string) =>
  z.preprocess(listFromText, z.array(item, message).min(1, message));
/** A list of numbers from `minimum` to `maximum`. */
export const numberList = (minimum: number, maximum: number, message: string) =>
  list(number(within(minimum, maximum, message)), message);
/** A list of some of `values`. */
export const listOf = <const T extends readonly [string, ...string[]]>(
  values: T,
  message = `must be a list of ${values.join(', ')}`,
) => list(z.enum(values, message), message);
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, `must be one of ${values.join(', ')}`);
export const wholeNumber = (minimum: number, maximum: number) => {
  const message = `must be a whole number from ${minimum} to ${maximum}`;
  return number(within(minimum, maximum, message).int(message));
};
export const yesOrNo = z.preprocess(booleanFromText, z.boolean('must be true or false'));
export const text = z.string('must be text').min(1, 'must not be empty');

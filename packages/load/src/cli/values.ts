/** Parses flag values: numbers, times and lists. Errors say what would be valid. */
import { InvalidArgumentError } from 'commander';

const TIME_UNITS: Readonly<Record<string, number>> = { '': 1, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

/** "10", "500ms", "2m": seconds. */
export function seconds(text: string): number {
  const [, number, unit = ''] = text.match(/^(\d+(?:\.\d+)?|\.\d+)\s*(us|ms|s|m|h)?$/) ?? [];
  const scale = TIME_UNITS[unit];
  if (number === undefined || scale === undefined) {
    throw new InvalidArgumentError('Give a time, such as 10 (seconds), 500ms or 2m.');
  }
  return Number(number) * scale;
}

/** "100000", "100k", "1.5M": a number; the options' schema checks the range. */
export function number(text: string): number {
  const [, digits, unit = ''] = text.match(/^(-?\d+(?:\.\d+)?(?:e\d+)?)([kM]?)$/) ?? [];
  if (digits === undefined) throw new InvalidArgumentError('Give a number, such as 1000 or 100k.');
  return Number(digits) * (unit === 'k' ? 1e3 : unit === 'M' ? 1e6 : 1);
}

/** "2", "max". */
export function speed(text: string): number | 'max' {
  return text === 'max' ? 'max' : number(text);
}

/** "1000,2k,4k". */
export function numbers(text: string): number[] {
  return text.split(',').map((part) => number(part.trim()));
}

/** "100:200k": from and to. */
export function numberRange(text: string): { from: number; to: number } {
  const [from, to, ...rest] = text.split(':');
  if (from === undefined || to === undefined || rest.length > 0) {
    throw new InvalidArgumentError('Give two rates, such as 0:100k.');
  }
  return { from: number(from), to: number(to) };
}

/** "A,AAAA". */
export function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** Collects the values of a repeatable flag. */
export function repeated(text: string, before: readonly string[] = []): string[] {
  return [...before, ...words(text)];
}

/** Numbers as a person reads them. Rounding happens here and nowhere else. */

const UNITS = [
  { name: 's', seconds: 1 },
  { name: 'ms', seconds: 1e-3 },
  { name: 'µs', seconds: 1e-6 },
  { name: 'ns', seconds: 1e-9 },
] as const;

/** Three significant digits: "1.23", "12.3", "123", "1,230". */
export function threeDigits(value: number): string {
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** "123 µs", "1.20 ms", "5.00 s". */
export function duration(seconds: number): string {
  const unit = UNITS.find((candidate) => Math.abs(seconds) >= candidate.seconds) ?? UNITS[3];
  // 999.7 µs would round to "1,000 µs".
  const value = seconds / unit.seconds;
  return value >= 999.5
    ? duration(Math.round(seconds / unit.seconds) * unit.seconds + unit.seconds * 1e-6)
    : `${threeDigits(value)} ${unit.name}`;
}

/** "1,234,567". */
export function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** "12.3 %", with two decimals below one percent, and never "0.00 %" for a value above 0. */
export function percent(ratio: number): string {
  if (ratio > 0 && ratio < 0.0001) return '<0.01 %';
  const decimals = ratio < 0.01 && ratio > 0 ? 2 : 1;
  return `${(100 * ratio).toFixed(decimals)} %`;
}

/** "1 worker", "3 workers". */
export function many(count: number, noun: string, plural = `${noun}s`): string {
  return `${whole(count)} ${count === 1 ? noun : plural}`;
}

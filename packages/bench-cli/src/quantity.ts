/**
 * Kubernetes resource quantities as numbers: `500m` is half a core, `1Gi` is 2^30 bytes. Pure.
 * Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */

const MULTIPLIERS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const QUANTITY = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]))?$/;

/** A quantity as a number in its base unit (cores, bytes, items); null for anything else. */
export function parseQuantity(text: string | number | undefined): number | null {
  const [, digits, exponent, suffix = ''] = QUANTITY.exec(String(text ?? '').trim()) ?? [];
  if (digits === undefined) return null;
  const value = Number(digits);
  if (exponent !== undefined) return value * 10 ** Number(exponent);
  const multiplier = MULTIPLIERS[suffix] ?? 1;
  // Dividing by a whole number rounds once; multiplying by 1e-9 would round twice.
  return multiplier < 1 ? value / Math.round(1 / multiplier) : value * multiplier;
}

/**
 * Cores as the API server writes them: whole cores without a suffix, others in thousandths, rounded up, so
 * that what is written is never less than what was asked for. `0.5` → `500m`.
 */
export function cpuQuantity(cores: number): string {
  // 0.1 + 0.2 is a little more than 300m: round off the floating-point error first.
  const thousandths = Math.ceil(Number((cores * 1000).toFixed(6)));
  return thousandths % 1000 === 0 ? String(thousandths / 1000) : `${thousandths}m`;
}

/** An amount of memory in the unit that people write, rounded up: `91Mi`. */
export function memoryQuantity(bytes: number): string {
  // 170 must not become 171 by an error of the arithmetic.
  return `${Math.ceil(bytes / 2 ** 20 - 1e-6)}Mi`;
}

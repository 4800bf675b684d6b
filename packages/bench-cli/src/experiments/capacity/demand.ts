/** Numbers among the flags of measurements that are not on the engine yet. Pure. */
import { BenchError } from '../../errors.ts';

/** A whole number from `least`; `missing` where the flag was not given. @throws BenchError `E_USAGE` */
export function wholeNumber<T>(flag: string, text: string | undefined, missing: T, least = 0): number | T {
  if (text === undefined) return missing;
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least) return value;
  throw new BenchError('E_USAGE', `${flag}: "${text}" must be a whole number from ${least}`, {
    fix: 'Give digits only: no sign, fraction or unit.',
  });
}

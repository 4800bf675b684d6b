/** The location of LOC records (RFC 1876), from "60 9 0.000 N 24 39 0.000 E 10.00m 20m 2000m 20m" to 16 bytes and back. */
import { DataError, type DataReader, NoTextError } from '../record-data.ts';
import { type FieldKind, type Tokens, wrongToken } from './field.ts';
import { wholeNumber } from './numbers.ts';

const EQUATOR = 2 ** 31;
/** Altitudes are in centimetres above 100,000 m below the reference spheroid. */
const REFERENCE_CENTIMETRES = 10_000_000;
/** Size 1 m, horizontal precision 10,000 m, vertical precision 10 m (RFC 1876, section 3). */
const DEFAULTS = [0x12, 0x16, 0x13] as const;

/** Thousandths of a second of arc, from the equator or the prime meridian. */
function angle(tokens: Tokens, maxDegrees: number, positive: string, negative: string): number {
  const isHemisphere = (text: string | undefined) =>
    text?.toUpperCase() === positive || text?.toUpperCase() === negative;
  const degrees = wholeNumber(tokens.next('degrees'), maxDegrees);
  let minutes = 0;
  let thousandths = 0;
  if (!isHemisphere(tokens.peek())) minutes = wholeNumber(tokens.next('minutes'), 59);
  if (!isHemisphere(tokens.peek())) thousandths = secondsOf(tokens.next('seconds'));
  const hemisphere = tokens.next(`${positive} or ${negative}`).toUpperCase();
  if (!isHemisphere(hemisphere)) {
    throw wrongToken(
      hemisphere,
      'a hemisphere',
      `write ${positive} or ${negative} after the degrees, minutes and seconds`,
    );
  }
  const total = (degrees * 60 + minutes) * 60_000 + thousandths;
  if (total > maxDegrees * 3_600_000) {
    throw wrongToken(`${degrees} ${minutes} …`, 'an angle', `write at most ${maxDegrees} degrees`);
  }
  return hemisphere === positive ? EQUATOR + total : EQUATOR - total;
}

function secondsOf(text: string): number {
  const [, whole = '', fraction = ''] = /^(\d{1,2})(?:\.(\d{0,3}))?$/.exec(text) ?? [];
  if (whole === '' || Number(whole) > 59) {
    throw wrongToken(text, 'seconds of arc', 'write 0 to 59.999, with at most three decimals');
  }
  return Number(whole) * 1000 + Number(fraction.padEnd(3, '0'));
}

/** Metres with up to two decimals as centimetres. */
function centimetres(text: string, min: number, max: number): number {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d{0,8})(?:\.(\d{0,2}))?m?$/i.exec(text) ?? [];
  const value = (Number(whole) * 100 + Number(fraction.padEnd(2, '0'))) * (sign === '-' ? -1 : 1);
  if (whole + fraction === '' || value < min || value > max) {
    throw wrongToken(
      text,
      'a length in metres',
      `write ${min / 100} to ${max / 100}, with at most two decimals`,
    );
  }
  return value;
}

/** One digit and a power of ten, in centimetres; further digits are dropped. */
function precision(text: string): number {
  const value = centimetres(text, 0, 9_000_000_000);
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(value) + 1e-12);
  return (Math.floor(value / 10 ** exponent) << 4) | exponent;
}

function parse(tokens: Tokens, out: Parameters<FieldKind['parse']>[1]): void {
  const latitude = angle(tokens, 90, 'N', 'S');
  const longitude = angle(tokens, 180, 'E', 'W');
  const altitude = centimetres(
    tokens.next('an altitude'),
    -REFERENCE_CENTIMETRES,
    0xffff_ffff - REFERENCE_CENTIMETRES,
  );
  out.u8(0);
  for (const value of DEFAULTS) out.u8(tokens.hasMore ? precision(tokens.next('a precision')) : value);
  out.u32(latitude);
  out.u32(longitude);
  out.u32(altitude + REFERENCE_CENTIMETRES);
}

function angleText(value: number, positive: string, negative: string): string {
  const total = Math.abs(value - EQUATOR);
  const seconds = `${Math.floor((total % 60_000) / 1000)}.${String(total % 1000).padStart(3, '0')}`;
  const minutes = Math.floor(total / 60_000) % 60;
  return `${Math.floor(total / 3_600_000)} ${minutes} ${seconds} ${value < EQUATOR ? negative : positive}`;
}

function precisionText(value: number): string {
  const digit = value >> 4;
  const exponent = value & 0xf;
  if (digit > 9 || exponent > 9) throw new DataError('a LOC precision is not a number');
  return exponent > 1
    ? `${digit * 10 ** (exponent - 2)}m`
    : `0.${String(digit * 10 ** exponent).padStart(2, '0')}m`;
}

function print(data: DataReader): string {
  if (data.u8() !== 0) throw new NoTextError('LOC has an unknown version');
  const precisions = [data.u8(), data.u8(), data.u8()].map(precisionText);
  const latitude = angleText(data.u32(), 'N', 'S');
  const longitude = angleText(data.u32(), 'E', 'W');
  const altitude = data.u32() - REFERENCE_CENTIMETRES;
  const metres = `${altitude < 0 ? '-' : ''}${Math.floor(Math.abs(altitude) / 100)}`;
  const cents = String(Math.abs(altitude) % 100).padStart(2, '0');
  return [latitude, longitude, `${metres}.${cents}m`, ...precisions].join(' ');
}

export const LOC_KINDS = { location: { parse, print } } satisfies Record<string, FieldKind>;

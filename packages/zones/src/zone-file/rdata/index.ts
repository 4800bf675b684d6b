/** Converts the data of records of any type between text and wire format. */
import { fieldsOf, typeName } from '@dinodns-bench/wire';
import { TokenError } from '../problem.ts';
import { DataError, DataReader, type DataWriter, NoTextError } from '../record-data.ts';
import { ADDRESS_KINDS } from './addresses.ts';
import { APL_KINDS } from './apl.ts';
import { BINARY_KINDS, GENERIC } from './binary.ts';
import { BITMAP_KINDS } from './bitmap.ts';
import { type FieldKind, NAME_KINDS, type Tokens } from './field.ts';
import { GATEWAY_KINDS } from './gateway.ts';
import { LEGACY_KINDS } from './legacy.ts';
import { LOC_KINDS } from './loc.ts';
import { NUMBER_KINDS } from './numbers.ts';
import { STRING_KINDS } from './strings.ts';
import { SVCB_KINDS } from './svcb.ts';

const KINDS: Readonly<Record<string, FieldKind>> = {
  ...ADDRESS_KINDS,
  ...APL_KINDS,
  ...BINARY_KINDS,
  ...BITMAP_KINDS,
  ...GATEWAY_KINDS,
  ...LEGACY_KINDS,
  ...LOC_KINDS,
  ...NAME_KINDS,
  ...NUMBER_KINDS,
  ...STRING_KINDS,
  ...SVCB_KINDS,
};

const NO_FIELDS: readonly FieldKind[] = [];

const layouts = new Map<number, readonly FieldKind[]>();

/** The fields of a type's data; none if it has no text form of its own. */
function layoutOf(type: number): readonly FieldKind[] {
  const known = layouts.get(type);
  if (known !== undefined) return known;
  const fields = fieldsOf(type);
  if (fields.length === 0) return NO_FIELDS;
  const layout = fields.map((field) => {
    const kind = KINDS[field];
    if (kind === undefined) throw new Error(`the registry has an unknown kind of field: ${field}`);
    return kind;
  });
  layouts.set(type, layout);
  return layout;
}

/**
 * Reads the data of a record from its tokens, in the type's own text form or as `\# LENGTH HEX`. Throws a
 * `TokenError`.
 */
export function parseData(type: number, tokens: Tokens, out: DataWriter): Buffer {
  out.clear();
  const layout = layoutOf(type);
  if (tokens.peek() === '\\#' && !tokens.entry.isQuoted(tokens.at)) {
    return parseGeneric(type, layout, tokens, out);
  }
  if (layout === NO_FIELDS) {
    throw new TokenError(
      `${typeName(type)} has no text form of its own`,
      'write its data as \\# LENGTH HEX (RFC 3597, section 5)',
    );
  }
  for (const field of layout) field.parse(tokens, out);
  tokens.end(`the ${typeName(type)} record`);
  return out.copy();
}

function parseGeneric(type: number, layout: readonly FieldKind[], tokens: Tokens, out: DataWriter): Buffer {
  tokens.next('\\#');
  GENERIC.parse(tokens, out);
  const data = out.copy();
  if (layout === NO_FIELDS) return data;
  try {
    printFields(layout, data);
    return data;
  } catch (error) {
    if (error instanceof NoTextError) return data;
    if (!(error instanceof DataError)) throw error;
    const problem = `the data is not valid for type ${typeName(type)}: ${error.message}`;
    throw new TokenError(problem, `correct it, or write it in the text form of ${typeName(type)}`);
  }
}

/** The text of a record's data: in its type's form, or as `\# LENGTH HEX` if the type has none. Throws a `DataError`. */
export function dataText(type: number, data: Uint8Array): string {
  const layout = layoutOf(type);
  try {
    if (layout !== NO_FIELDS) return printFields(layout, data);
  } catch (error) {
    if (!(error instanceof NoTextError)) throw error;
  }
  return GENERIC.print(new DataReader(data));
}

function printFields(layout: readonly FieldKind[], data: Uint8Array): string {
  const reader = new DataReader(data);
  let text = '';
  for (const field of layout) {
    const next = field.print(reader);
    if (next !== '') text = text === '' ? next : `${text} ${next}`;
  }
  if (reader.left > 0) throw new DataError('there is data after the last field');
  return text;
}

/**
 * Record types and classes by number and by name, as the framework's handlers know them (`A`, `UNKNOWN_65`).
 * `dns-packet` exports its tables only through its encoder and decoder.
 */
import { CLASS, encodeQuery, HEADER_BYTES } from '@dinodns-bench/wire';
import { decode, encode, type Question } from 'dns-packet';

const typeNumbers = new Map<string, number>();

const ROOT = Buffer.alloc(1);

function questionOf(type: number, classCode: number): Question | undefined {
  return decode(encodeQuery({ name: ROOT, type, class: classCode })).questions?.[0];
}

/** Makes the name of each number once; there are at most 65,536. */
function once<Name extends string>(make: (number: number) => Name): (number: number) => Name {
  const known = new Map<number, Name>();
  return (number) => {
    let name = known.get(number);
    if (name === undefined) {
      name = make(number);
      known.set(number, name);
    }
    return name;
  };
}

/** Name of a record type as `dns-packet` writes it: `A`, `UNKNOWN_65`. */
export const typeName = once((type) => questionOf(type, CLASS.IN)?.type ?? 'A');

export const className = once((code) => questionOf(1, code)?.class ?? 'IN');

/** Number of a type's name, in any case. Throws a RangeError for an unknown name. */
export function typeNumber(name: string): number {
  const known = typeNumbers.get(name);
  if (known !== undefined) return known;
  const message = encode({ type: 'query', questions: [{ name: '.', type: name as Question['type'] }] });
  const number = message.readUInt16BE(HEADER_BYTES + 1);
  if (number === 0 && name !== typeName(0))
    throw new RangeError(`"${name}" is not a record type that can be encoded`);
  // Cache only the spelling of `typeName`: the others are unlimited.
  if (typeName(number) === name) typeNumbers.set(name, number);
  return number;
}

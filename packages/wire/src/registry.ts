/** Numbers with mnemonics, as the IANA registries list them. */

/**
 * A registry of `numbers` from 0 to `max`, where `prefix` and digits stand for a number (RFC 3597 §5 for types and
 * classes). If two mnemonics have the same number, the first is its name.
 */
export function registryOf(numbers: Readonly<Record<string, number>>, prefix: string, max: number) {
  const known = new Map(Object.entries(numbers));
  const names = new Map(
    Object.entries(numbers)
      .reverse()
      .map(([name, number]) => [number, name]),
  );
  const pattern = new RegExp(`^${prefix}(\\d{1,9})$`);
  return {
    /** The mnemonics, for messages and suggestions. */
    names: [...known.keys()] as readonly string[],
    /** The mnemonic of a number, or the prefix and the number if it has none (`TYPE65280`). */
    nameOf: (number: number) => names.get(number) ?? `${prefix}${number}`,
    /** The number of a mnemonic or of prefix and digits, in any letter case; undefined if the text is neither. */
    numberOf: (text: string) => {
      const name = text.toUpperCase();
      const number = known.get(name) ?? Number(pattern.exec(name)?.[1] ?? Number.NaN);
      return number <= max ? number : undefined;
    },
  };
}

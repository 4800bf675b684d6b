/**
 * Records in the presentation format of zone files (RFC 1035 §5.1). No type here needs that of RFC 3597.
 */
import { partsOf } from '@dinodns-bench/wire';
import { ownerOfTarget } from './names.ts';
import type { PlannedRecord } from './plan.ts';
import type { TypedData } from './record-schema.ts';

/**
 * Text in double quotes. Quotes, backslashes and braces are written as `\DDD`, so the text passes unchanged through
 * the quoting of every configuration language here, and through CoreDNS's placeholders.
 */
export function quoted(text: string): string {
  const escaped = text.replace(
    /["'\\{}]/g,
    (character) => `\\${String(character.charCodeAt(0)).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

/** The data of a record; `nameText` writes the domain names in it. */
export function dataText({ type, data }: TypedData, nameText: (name: string) => string): string {
  const texts = partsOf(type, data).map(({ kind, value }) => {
    if (kind === 'name') return nameText(String(value));
    if (kind === 'text' || kind === 'strings')
      return [value]
        .flat()
        .map((text) => quoted(String(text)))
        .join(' ');
    return String(value);
  });
  return texts.join(' ');
}

/** An absolute name with its trailing dot. */
export function absolute(name: string): string {
  return name === '.' ? name : `${name}.`;
}

/** A name as a zone file writes it relative to its origin. */
export function relative(target: string): string {
  return ownerOfTarget(target) ?? absolute(target);
}

/** A zone file that is valid for every zone of the set, because all names in the zone are relative to the origin. */
export function* sharedZoneFile(
  records: readonly PlannedRecord[],
  heading: string,
): Generator<string, void, void> {
  yield `; ${heading}\n; Names are relative, so that one file serves every zone: the configuration gives the origin.\n`;
  const width = Math.max(...records.map(({ name }) => name.length));
  for (const record of records) {
    yield `${record.name.padEnd(width)} ${record.ttl} IN ${record.type.padEnd(5)} ${dataText(record, relative)}\n`;
  }
}

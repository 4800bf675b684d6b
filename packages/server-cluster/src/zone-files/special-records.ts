/** Finds the few records of a large zone that make it invalid, so that not all have to be in memory. */
import { NONE } from '../table/arena.ts';
import { copyOf, type RecordPlace, readRecords, type WireRecord } from './records-file.ts';
import { SpecialNames } from './special-names.ts';

/** Names that are reported for each reason; as in a file with syntax errors, nobody reads more. */
const MAX_WRONG = 20;
/** To find a fault, two different records of a type show as much as all of them. */
const MAX_OF_A_TYPE = 2;

/**
 * The records of a zone's file that can cause an error: those at the apex; at names with an alias or a second SOA record
 * beside other data; and below DNAME records. Of each type of a name, at most two; of wrong names, the first twenty.
 * After every `yieldEvery` records, awaits `pause`.
 */
export async function specialRecords(
  path: string,
  zone: Uint8Array,
  yieldEvery: number,
  pause: () => Promise<unknown>,
): Promise<WireRecord[]> {
  const names = new SpecialNames(zone);
  const found = new FoundRecords();
  const each = (onRecord: (bytes: Buffer, place: RecordPlace) => void) => {
    const goOn = (bytes: Buffer, place: RecordPlace) => {
      onRecord(bytes, place);
      return true;
    };
    return readRecords(path, goOn, yieldEvery, pause);
  };
  await each((bytes, place) => names.note(bytes, place));
  let isSuspect = false;
  await each((bytes, place) => {
    names.find(bytes, place);
    if (names.node === names.apex) found.add(names.apex, bytes, place);
    isSuspect ||= names.isWrong() || names.redirection !== NONE;
  });
  if (!isSuspect) return found.records;

  const redirections = names.wrongRedirections(MAX_WRONG);
  const wrong = new Set<number>();
  let redirected = 0;
  await each((bytes, place) => {
    names.find(bytes, place);
    const { node, redirection } = names;
    if (redirections.has(redirection) && redirected < MAX_WRONG) {
      redirected++;
      found.records.push(copyOf(bytes, place));
    }
    if (names.isWrong() && wrong.size < MAX_WRONG) wrong.add(node);
    if (wrong.has(node) || (redirections.has(node) && node !== names.apex)) found.add(node, bytes, place);
  });
  return found.records;
}

class FoundRecords {
  readonly records: WireRecord[] = [];
  readonly #byName = new Map<number, Map<number, WireRecord[]>>();

  add(node: number, bytes: Buffer, place: RecordPlace): void {
    const types = this.#byName.get(node) ?? new Map<number, WireRecord[]>();
    this.#byName.set(node, types);
    const { type, from, to } = place;
    const same = types.get(type) ?? [];
    types.set(type, same);
    if (
      same.length === MAX_OF_A_TYPE ||
      same.some(({ data }) => bytes.compare(data, 0, data.length, from, to) === 0)
    )
      return;
    const record = copyOf(bytes, place);
    same.push(record);
    this.records.push(record);
  }
}

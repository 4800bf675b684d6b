/**
 * Answers in JSON and in protobuf: single objects, lists of any length, and the events of a watch. A list is made
 * piece by piece, so its length costs no memory.
 */
import { setImmediate } from 'node:timers/promises';
import type { JsonObject, KubeObject } from './object.ts';
import { ProtobufWriter, writeMessage } from './protobuf.ts';

export interface ListHead {
  readonly apiVersion: string;
  /** `ServiceList` */
  readonly kind: string;
  readonly metadata: JsonObject;
}

/** The items of a list, as often as they are asked for: protobuf needs the size of all of them first. */
export interface Items {
  /** Items with the same key have the same size, which is then computed once; null if that may not be assumed. */
  readonly sizeKey: string | null;
  [Symbol.iterator](): Iterator<KubeObject>;
}

/** Part of an answer. Bytes are valid until the next part is made: whoever gets them copies them at once. */
export type Piece = string | Uint8Array;

export interface Encoding {
  /** Of single objects and lists. */
  readonly contentType: string;
  readonly watchContentType: string;
  object(value: JsonObject): Piece;
  list(head: ListHead, items: Items): Iterable<Piece> | AsyncIterable<Piece>;
  watchEvent(type: string, object: JsonObject): Piece;
}

const jsonLine = (value: JsonObject) => `${JSON.stringify(value)}\n`;

export const JSON_ENCODING: Encoding = {
  contentType: 'application/json',
  watchContentType: 'application/json',
  object: jsonLine,
  *list({ apiVersion, kind, metadata }, items) {
    yield `${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`;
    let separator = '';
    for (const item of items) {
      yield separator + JSON.stringify(item);
      separator = ',';
    }
    yield ']}\n';
  },
  watchEvent: (type, object) => jsonLine({ type, object }),
};

/** Before every protobuf object, so that it is told from JSON (apimachinery, runtime/serializer/protobuf). */
const MAGIC = Buffer.from('k8s\0');

/** For what is copied before anything else can run; each list, whose parts wait for each other, has its own. */
const shared = new ProtobufWriter();

/** The head of `runtime.Unknown`: the object's type (1). Its bytes (2) follow. */
function writeEnvelope(writer: ProtobufWriter, apiVersion: string, kind: string): void {
  writer.raw(MAGIC);
  writer.delimitedField(1, () => {
    writer.stringField(1, apiVersion);
    writer.stringField(2, kind);
  });
}

function writeObject(writer: ProtobufWriter, value: JsonObject): void {
  const kind = String(value.kind);
  writeEnvelope(writer, String(value.apiVersion), kind);
  writer.delimitedField(2, () => writeMessage(writer, kind, value));
}

function itemBytes(writer: ProtobufWriter, item: KubeObject): Uint8Array {
  writer.delimitedField(2, () => writeMessage(writer, item.kind, item));
  return writer.take();
}

/** A few milliseconds of work, so that other requests are answered in between. */
const ITEMS_BETWEEN_PAUSES = 200;

async function sizeOf(items: Items): Promise<number> {
  let size = 0;
  let count = 0;
  for (const item of items) {
    size += itemBytes(shared, item).length;
    if (++count % ITEMS_BETWEEN_PAUSES === 0) await setImmediate();
  }
  return size;
}

/** Protobuf, as CoreDNS asks for it. Keeps the sizes of lists that it has encoded. */
export function protobufEncoding(): Encoding {
  const sizes = new Map<string, number>();
  return {
    contentType: 'application/vnd.kubernetes.protobuf',
    watchContentType: 'application/vnd.kubernetes.protobuf;stream=watch',
    object(value) {
      writeObject(shared, value);
      return shared.take();
    },
    async *list({ apiVersion, kind, metadata }, items) {
      const writer = new ProtobufWriter();
      const { sizeKey } = items;
      const itemsSize = sizes.get(sizeKey ?? '') ?? (await sizeOf(items));
      if (sizeKey !== null) sizes.set(sizeKey, itemsSize);
      writer.delimitedField(1, () => writeMessage(writer, 'ListMeta', metadata));
      const meta = Buffer.from(writer.take());
      writeEnvelope(writer, apiVersion, kind);
      writer.delimitedHead(2, meta.length + itemsSize);
      writer.raw(meta);
      yield writer.take();
      for (const item of items) yield itemBytes(writer, item);
    },
    watchEvent: protobufEvent,
  };
}

const FRAME_HEAD_BYTES = 4;

/** A frame: four bytes of length, then `meta.v1.WatchEvent` with the type (1) and the object (2) as `RawExtension` (1). */
function protobufEvent(type: string, object: JsonObject): Uint8Array {
  shared.raw(new Uint8Array(FRAME_HEAD_BYTES));
  shared.stringField(1, type);
  shared.delimitedField(2, () => shared.delimitedField(1, () => writeObject(shared, object)));
  const frame = shared.take();
  frame.writeUInt32BE(frame.length - FRAME_HEAD_BYTES);
  return frame;
}

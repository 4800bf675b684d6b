/**
 * Answers in JSON and in protobuf: single objects, lists of any length, and the events of a watch. A list is made
 * piece by piece, so its length costs no memory.
 */
import { setImmediate } from 'node:timers/promises';
import type { JsonObject, KubeObject } from './object.ts';
import { delimitedHeader, encodeMessage, stringField } from './protobuf.ts';

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

export interface Encoding {
  /** Of single objects and lists. */
  readonly contentType: string;
  readonly watchContentType: string;
  object(value: JsonObject): Buffer;
  list(head: ListHead, items: Items): Iterable<Buffer> | AsyncIterable<Buffer>;
  watchEvent(type: string, object: JsonObject): Buffer;
}

const jsonBytes = (value: JsonObject) => Buffer.from(`${JSON.stringify(value)}\n`);

export const JSON_ENCODING: Encoding = {
  contentType: 'application/json',
  watchContentType: 'application/json',
  object: jsonBytes,
  *list({ apiVersion, kind, metadata }, items) {
    yield Buffer.from(`${JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1)},"items":[`);
    let separator = '';
    for (const item of items) {
      yield Buffer.from(separator + JSON.stringify(item));
      separator = ',';
    }
    yield Buffer.from(']}\n');
  },
  watchEvent: (type, object) => jsonBytes({ type, object }),
};

/** Before every protobuf object, so that it is told from JSON (apimachinery, runtime/serializer/protobuf). */
const MAGIC = Buffer.from('k8s\0');

/** `runtime.Unknown`: the type (1) and the bytes (2) of an object; only the head of the bytes. */
function envelope(apiVersion: string, kind: string, size: number): Buffer {
  const type = Buffer.concat([stringField(1, apiVersion), stringField(2, kind)]);
  return Buffer.concat([MAGIC, delimitedHeader(1, type.length), type, delimitedHeader(2, size)]);
}

function protobufObject(value: JsonObject): Buffer {
  const kind = String(value.kind);
  const bytes = encodeMessage(kind, value);
  return Buffer.concat([envelope(String(value.apiVersion), kind, bytes.length), bytes]);
}

function itemBytes(item: KubeObject): Buffer {
  const bytes = encodeMessage(item.kind, item);
  return Buffer.concat([delimitedHeader(2, bytes.length), bytes]);
}

/** A few milliseconds of work, so that other requests are answered in between. */
const ITEMS_BETWEEN_PAUSES = 200;

/** Sizes of all items of a list, by their key. */
class ListSizes {
  readonly #known = new Map<string, number>();

  async of(items: Items): Promise<number> {
    const known = items.sizeKey === null ? undefined : this.#known.get(items.sizeKey);
    if (known !== undefined) return known;
    let size = 0;
    let count = 0;
    for (const item of items) {
      size += itemBytes(item).length;
      if (++count % ITEMS_BETWEEN_PAUSES === 0) await setImmediate();
    }
    if (items.sizeKey !== null) this.#known.set(items.sizeKey, size);
    return size;
  }
}

/** Protobuf, as CoreDNS asks for it. Keeps the sizes of lists that it has encoded. */
export function protobufEncoding(): Encoding {
  const sizes = new ListSizes();
  return {
    contentType: 'application/vnd.kubernetes.protobuf',
    watchContentType: 'application/vnd.kubernetes.protobuf;stream=watch',
    object: protobufObject,
    async *list({ apiVersion, kind, metadata }, items) {
      const meta = encodeMessage('ListMeta', metadata);
      const metaHeader = delimitedHeader(1, meta.length);
      yield envelope(apiVersion, kind, metaHeader.length + meta.length + (await sizes.of(items)));
      yield metaHeader;
      yield meta;
      for (const item of items) yield itemBytes(item);
    },
    watchEvent: protobufEvent,
  };
}

/** A frame: four bytes of length, then `meta.v1.WatchEvent` with the type (1) and the object (2) as `RawExtension` (1). */
function protobufEvent(type: string, object: JsonObject): Buffer {
  const bytes = protobufObject(object);
  const rawHeader = delimitedHeader(1, bytes.length);
  const typeField = stringField(1, type);
  const objectHeader = delimitedHeader(2, rawHeader.length + bytes.length);
  const parts = [typeField, objectHeader, rawHeader, bytes];
  const length = Buffer.alloc(4);
  length.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([length, ...parts]);
}

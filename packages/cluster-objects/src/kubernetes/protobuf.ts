/**
 * Objects in Kubernetes' protobuf encoding, which CoreDNS asks for: how much memory it needs for a list depends on the
 * encoding. The tables have the fields that this package writes, with the numbers of `generated.proto` in `k8s.io/api` and
 * `k8s.io/apimachinery`.
 */
import type { Json, JsonObject } from './object.ts';

/** A field's number, its type or the name of its message, and whether it is a list or a map. */
type Field = readonly [number: number, type: string, shape?: 'list' | 'map'];
type Message = Readonly<Record<string, Field>>;

function messages(texts: Readonly<Record<string, string>>): Readonly<Record<string, Message>> {
  const fieldIn = (text: string) => {
    const [name, number, type = 'string', shape] = text.split(' ');
    return [name, [Number(number), type, shape]];
  };
  const fieldsIn = (text: string) => Object.fromEntries(text.trim().split(/,\s+/).map(fieldIn));
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === '' ? {} : fieldsIn(text)]),
  );
}

const SCALARS = new Set(['string', 'int', 'bool', 'time', 'quantity', 'intOrString', 'json']);

/** Fields as `name number type shape`, and `string` where no type is given. */
const MESSAGES = messages({
  ObjectMeta: `
    name 1, generateName 2, namespace 3, uid 5, resourceVersion 6, generation 7 int,
    creationTimestamp 8 time, labels 11 string map, annotations 12 string map,
    ownerReferences 13 OwnerReference list, managedFields 17 ManagedFieldsEntry list`,
  ManagedFieldsEntry: `
    manager 1, operation 2, apiVersion 3, time 4 time, fieldsType 6, fieldsV1 7 json, subresource 8`,
  OwnerReference: 'kind 1, name 3, uid 4, apiVersion 5, controller 6 bool, blockOwnerDeletion 7 bool',
  ListMeta: 'resourceVersion 2, continue 3, remainingItemCount 4 int',
  PartialObjectMetadata: 'metadata 1 ObjectMeta',
  Status: 'metadata 1 ListMeta, status 2, message 3, reason 4, code 6 int',
  Namespace: 'metadata 1 ObjectMeta, spec 2 NamespaceSpec, status 3 NamespaceStatus',
  NamespaceSpec: 'finalizers 1 string list',
  NamespaceStatus: 'phase 1',
  Node: 'metadata 1 ObjectMeta, spec 2 NodeSpec, status 3 NodeStatus',
  NodeSpec: '',
  NodeStatus: 'addresses 5 NodeAddress list',
  NodeAddress: 'type 1, address 2',
  Service: 'metadata 1 ObjectMeta, spec 2 ServiceSpec, status 3 ServiceStatus',
  ServiceSpec: `
    ports 1 ServicePort list, selector 2 string map, clusterIP 3, type 4, sessionAffinity 7,
    ipFamilyPolicy 17, clusterIPs 18 string list, ipFamilies 19 string list, internalTrafficPolicy 22`,
  ServicePort: 'name 1, protocol 2, port 3 int, targetPort 4 intOrString',
  ServiceStatus: 'loadBalancer 1 LoadBalancerStatus',
  LoadBalancerStatus: '',
  EndpointSlice: 'metadata 1 ObjectMeta, endpoints 2 Endpoint list, ports 3 EndpointPort list, addressType 4',
  Endpoint: `
    addresses 1 string list, conditions 2 EndpointConditions, hostname 3, targetRef 4 ObjectReference,
    nodeName 6`,
  EndpointConditions: 'ready 1 bool, serving 2 bool, terminating 3 bool',
  EndpointPort: 'name 1, protocol 2, port 3 int',
  ObjectReference: 'kind 1, namespace 2, name 3, uid 4',
  Pod: 'metadata 1 ObjectMeta, spec 2 PodSpec, status 3 PodStatus',
  PodSpec: `
    containers 2 Container list, restartPolicy 3, terminationGracePeriodSeconds 4 int, dnsPolicy 6,
    serviceAccountName 8, nodeName 10, hostname 16, subdomain 17, schedulerName 19,
    tolerations 22 Toleration list, priority 25 int, enableServiceLinks 30 bool`,
  Container: `
    name 1, image 2, ports 6 ContainerPort list, env 7 EnvVar list, resources 8 ResourceRequirements,
    terminationMessagePath 13, imagePullPolicy 14, terminationMessagePolicy 20`,
  ContainerPort: 'name 1, containerPort 3 int, protocol 4',
  EnvVar: 'name 1, value 2',
  ResourceRequirements: 'limits 1 quantity map, requests 2 quantity map',
  Toleration: 'key 1, operator 2, effect 4, tolerationSeconds 5 int',
  PodStatus: `
    phase 1, conditions 2 PodCondition list, hostIP 5, podIP 6, startTime 7 time,
    containerStatuses 8 ContainerStatus list, qosClass 9, podIPs 12 PodIP list, hostIPs 16 PodIP list`,
  PodCondition: 'type 1, status 2, lastTransitionTime 4 time',
  PodIP: 'ip 1',
  ContainerStatus: `
    name 1, state 2 ContainerState, ready 4 bool, restartCount 5 int, image 6, imageID 7, containerID 8,
    started 9 bool`,
  ContainerState: 'running 2 ContainerStateRunning',
  ContainerStateRunning: 'startedAt 1 time',
});

const VARINT = 0;
const DELIMITED = 2;

/** Bytes that grow as they are written, in memory that is used again for every message. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  string(value: string): void {
    const size = Buffer.byteLength(value);
    this.varint(size);
    this.#reserve(size);
    this.#length += this.#bytes.write(value, this.#length);
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** What `write` writes, with its length before it: one byte is kept for that, more are made room for. */
  delimited(write: () => void): void {
    this.#reserve(1);
    const start = this.#length++;
    write();
    const size = this.#length - start - 1;
    if (size < 128) {
      this.#bytes[start] = size;
      return;
    }
    const more = varintBytes(size) - 1;
    this.#reserve(more);
    this.#bytes.copyWithin(start + 1 + more, start + 1, this.#length);
    const end = this.#length + more;
    this.#length = start;
    this.varint(size);
    this.#length = end;
  }

  get length(): number {
    return this.#length;
  }

  /** A copy of what was written from an offset on. */
  copyFrom(start: number): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#length));
  }

  /** What was written since the last call. It is overwritten by what is written next: copy it before. */
  take(): Buffer {
    const written = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return written;
  }

  stringField(number: number, value: string): void {
    this.varint(number * 8 + DELIMITED);
    this.string(value);
  }

  /** A field with a message or with bytes, which `write` writes. */
  delimitedField(number: number, write: () => void): void {
    this.varint(number * 8 + DELIMITED);
    this.delimited(write);
  }

  /** The head of such a field, for `size` bytes that follow. */
  delimitedHead(number: number, size: number): void {
    this.varint(number * 8 + DELIMITED);
    this.varint(size);
  }
}

function varintBytes(value: number): number {
  let size = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) size++;
  return size;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !isList(value);

/** The bytes of values that never change, and that many objects share. */
const frozen = new WeakMap<object, Buffer>();

/**
 * Writes the fields of one message; `name` is its kind. @throws TypeError if the table lacks one of them: it must never be lost
 * silently.
 */
export function writeMessage(writer: ProtobufWriter, name: string, value: Json): void {
  const fields = MESSAGES[name];
  if (fields === undefined || !isObject(value))
    throw new TypeError(`a ${name} cannot be ${JSON.stringify(value)}`);
  for (const key in value) {
    const content = value[key];
    if (content === undefined || content === null) continue;
    const field = fields[key];
    // `apiVersion` and `kind` are in the envelope.
    if (field === undefined) {
      if (key === 'apiVersion' || key === 'kind') continue;
      throw new TypeError(`the protobuf table of ${name} lacks the field ${key}`);
    }
    writeField(writer, field, content);
  }
}

function writeField(writer: ProtobufWriter, field: Field, content: Json): void {
  if (typeof content !== 'object' || content === null || !Object.isFrozen(content)) {
    writeValues(writer, field, content);
    return;
  }
  const known = frozen.get(content);
  if (known !== undefined) {
    writer.raw(known);
    return;
  }
  const start = writer.length;
  writeValues(writer, field, content);
  frozen.set(content, writer.copyFrom(start));
}

function writeValues(writer: ProtobufWriter, [number, type, shape]: Field, content: Json): void {
  if (shape === 'map') {
    for (const [key, value] of Object.entries(isObject(content) ? content : {})) {
      writer.varint(number * 8 + DELIMITED);
      writer.delimited(() => {
        writeOne(writer, 1, 'string', key);
        writeOne(writer, 2, type, value);
      });
    }
    return;
  }
  for (const value of isList(content) ? content : [content]) writeOne(writer, number, type, value);
}

function writeOne(writer: ProtobufWriter, number: number, type: string, value: Json): void {
  const wireType = type === 'int' || type === 'bool' ? VARINT : DELIMITED;
  writer.varint(number * 8 + wireType);
  if (wireType === VARINT) writer.varint(Number(value));
  else if (type === 'string') writer.string(String(value));
  else
    writer.delimited(() =>
      SCALARS.has(type) ? writeScalar(writer, type, value) : writeMessage(writer, type, value),
    );
}

/** Scalars of the JSON that are messages here. */
function writeScalar(writer: ProtobufWriter, type: string, value: Json): void {
  if (type === 'time') writeOne(writer, 1, 'int', Math.floor(Date.parse(String(value)) / 1000));
  else if (type === 'quantity') writeOne(writer, 1, 'string', value);
  else if (type === 'json') writeOne(writer, 1, 'string', JSON.stringify(value));
  else if (typeof value === 'number') writeOne(writer, 2, 'int', value);
  else {
    writeOne(writer, 1, 'int', 1);
    writeOne(writer, 3, 'string', value);
  }
}

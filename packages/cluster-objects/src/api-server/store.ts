/** The objects of the cluster with the changes since the start, and the one count of versions. */
import type { Cluster } from '../cluster/cluster.ts';
import { type KubeObject, keyOf } from '../kubernetes/object.ts';
import { baseResourceVersion } from '../kubernetes/objects.ts';
import type { Resource } from '../kubernetes/resources.ts';
import { type ChangeType, EventLog } from './event-log.ts';

/** A position in a list: of the generated objects, or of those added later. */
export interface Entry {
  readonly object: KubeObject;
  /** Where the next page begins. */
  readonly next: number;
}

interface Changes {
  readonly added: Map<string, KubeObject>;
  /** Of the generated objects. */
  readonly removed: Set<string>;
}

export class Store {
  readonly cluster: Cluster;
  readonly log: EventLog;
  #version: number;
  readonly #changes = new Map<string, Changes>();

  constructor(cluster: Cluster) {
    this.cluster = cluster;
    this.#version = baseResourceVersion(cluster);
    this.log = new EventLog(this.#version);
  }

  /** The latest version. */
  get version(): number {
    return this.#version;
  }

  /**
   * All objects of a kind as they are now: what changes later does not change it, and it can be read several times. Memory grows with
   * the number of changed objects only.
   */
  snapshot(resource: Resource) {
    const changes = this.#changes.get(resource.name);
    const removed = new Set(changes?.removed);
    const added = [...(changes?.added.values() ?? [])];
    return {
      /** True if these are exactly the generated objects. */
      isGenerated: removed.size + added.length === 0,
      entries: (from = 0) => entries(this.cluster, resource, from, removed, added),
    };
  }

  /** The object gets the version of the change, as in all that follow. */
  add(resource: Resource, object: KubeObject): KubeObject {
    const added = this.#record('ADDED', resource, object);
    this.#changesOf(resource).added.set(keyOf(added), added);
    return added;
  }

  /** Puts another object in the place of the one with the same key. */
  modify(resource: Resource, object: KubeObject): void {
    const { added, removed } = this.#changesOf(resource);
    added.set(keyOf(object), this.#record('MODIFIED', resource, object));
    removed.add(keyOf(object));
  }

  /** `object` as it was; the event has it with the version of its removal, as Kubernetes does. */
  remove(resource: Resource, object: KubeObject): KubeObject {
    const { added, removed } = this.#changesOf(resource);
    if (!added.delete(keyOf(object))) removed.add(keyOf(object));
    return this.#record('DELETED', resource, object);
  }

  /** Nobody can continue from a version before now. */
  expire(): void {
    this.#version++;
    this.log.forgetAll(this.#version);
  }

  #changesOf({ name }: Resource): Changes {
    const known = this.#changes.get(name) ?? { added: new Map(), removed: new Set() };
    this.#changes.set(name, known);
    return known;
  }

  #record(type: ChangeType, { name }: Resource, given: KubeObject): KubeObject {
    this.#version++;
    const metadata = { ...given.metadata, resourceVersion: String(this.#version) };
    const object = { ...given, metadata };
    this.log.append({ type, resource: name, resourceVersion: this.#version, object });
    return object;
  }
}

function* entries(
  cluster: Cluster,
  resource: Resource,
  from: number,
  removed: ReadonlySet<string>,
  added: readonly KubeObject[],
): Generator<Entry, void, void> {
  let position = from;
  for (const object of resource.objects(cluster, from)) {
    position++;
    if (removed.size === 0 || !removed.has(keyOf(object))) yield { object, next: position };
  }
  const generated = resource.count(cluster);
  for (let index = Math.max(0, from - generated); index < added.length; index++) {
    const object = added[index];
    if (object !== undefined) yield { object, next: generated + index + 1 };
  }
}

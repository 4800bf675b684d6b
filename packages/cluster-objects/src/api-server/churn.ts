/** Changes at a steady rate: a Service is created, and after a while deleted, each at a known moment. */
import type { Cluster } from '../cluster/cluster.ts';
import type { KubeObject } from '../kubernetes/object.ts';
import { serviceObject } from '../kubernetes/objects.ts';
import { SERVICES } from '../kubernetes/resources.ts';
import type { Store } from './store.ts';

/** Changes per second; more is more than one process can send in time. */
export const MAX_CHURN_RATE = 1000;

export interface ServiceChange {
  readonly type: 'ADDED' | 'DELETED';
  /** Its DNS name, without a trailing dot. */
  readonly name: string;
  /** Its first address. */
  readonly address: string;
  readonly resourceVersion: number;
  /** When the event was ready to be sent: seconds since 1970, to the microsecond. */
  readonly atSeconds: number;
}

/** Changes that are remembered; at 100 a second, more than ten minutes of them. */
const KEPT_CHANGES = 65_536;

/** Services of a churn that exist at the same time, so that a lookup has time to see each. */
const LIVE_SERVICES = 100;

/** Changes come in groups of this many milliseconds at most, the resolution of timers. */
const TICK_MILLISECONDS = 5;

export class Churn {
  readonly #store: Store;
  readonly #live: KubeObject[] = [];
  #changes: ServiceChange[] = [];
  /** Above all generated services, so that names and addresses are new; never used twice. */
  #nextService: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(store: Store) {
    this.#store = store;
    this.#nextService = store.cluster.spec.services;
  }

  /** Changes after a version, the oldest first. */
  changesAfter(resourceVersion: number): readonly ServiceChange[] {
    return this.#changes.filter((change) => change.resourceVersion > resourceVersion);
  }

  /** Creates one Service. */
  create(): ServiceChange {
    const service = this.#store.cluster.service(this.#nextService++);
    const object = this.#store.add(SERVICES, (version) =>
      serviceObject(this.#store.cluster, service, version),
    );
    this.#live.push(object);
    return this.#record('ADDED', object);
  }

  /** Deletes the oldest Service that a churn has created; null if there is none. */
  delete(): ServiceChange | null {
    const oldest = this.#live.shift();
    return oldest === undefined ? null : this.#record('DELETED', this.#store.remove(SERVICES, oldest));
  }

  /** Changes per second from now on; 0 stops. What was created stays. */
  run(perSecond: number): void {
    clearInterval(this.#timer);
    if (perSecond === 0) return;
    const start = performance.now();
    let done = 0;
    this.#timer = setInterval(() => {
      for (const due = ((performance.now() - start) / 1000) * perSecond; done < due; done++) this.#change();
    }, TICK_MILLISECONDS);
    this.#timer.unref();
  }

  /** Creates until there are enough, then creates and deletes in turn. */
  #change(): void {
    if (this.#live.length < LIVE_SERVICES) this.create();
    else this.delete();
  }

  #record(type: ServiceChange['type'], object: KubeObject): ServiceChange {
    const { name, namespace } = object.metadata;
    const change: ServiceChange = {
      type,
      name: `${name}.${namespace}.svc.${this.#store.cluster.spec.domain}`,
      address: addressOf(this.#store.cluster, name),
      resourceVersion: Number(object.metadata.resourceVersion),
      atSeconds: (performance.timeOrigin + performance.now()) / 1000,
    };
    this.#changes.push(change);
    if (this.#changes.length >= 2 * KEPT_CHANGES) this.#changes = this.#changes.slice(-KEPT_CHANGES);
    return change;
  }
}

/** The number in the name is the service's. */
function addressOf(cluster: Cluster, name: string): string {
  return cluster.service(Number(name.slice(name.lastIndexOf('-') + 1))).addresses[0] ?? '';
}

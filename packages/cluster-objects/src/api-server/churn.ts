/** Changes at a steady rate: a Service is created, and after a while deleted, each at a known moment. */
import type { Service } from '../cluster/cluster.ts';
import type { KubeObject } from '../kubernetes/object.ts';
import { serviceObject } from '../kubernetes/objects.ts';
import { SERVICES } from '../kubernetes/resources.ts';
import { serviceName } from '../names/internal.ts';
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
  /** The same moment on the machine's monotonic clock, which all its processes share: for differences. */
  readonly monotonicSeconds: number;
}

/** A Service that does not exist yet: what to ask for until it does. */
export interface AnnouncedService {
  /** Its DNS name, without a trailing dot. */
  readonly name: string;
  readonly address: string;
}

/** Changes that are remembered; at 100 a second, more than ten minutes of them. */
const KEPT_CHANGES = 65_536;

/** Services of a churn that exist at the same time, so that a lookup has time to see each. */
const LIVE_SERVICES = 100;

/** Changes come in groups of this many milliseconds at most, the resolution of timers. */
const TICK_MILLISECONDS = 5;

/** Seconds from an announcement to the Service, at most. */
export const MAX_ANNOUNCED_SECONDS = 3600;

export class Churn {
  readonly #store: Store;
  readonly #live: Service[] = [];
  #changes: ServiceChange[] = [];
  /** Above all generated services, so that names and addresses are new; never used twice. */
  #nextService: number;
  #timer: NodeJS.Timeout | undefined;
  readonly #announced = new Set<NodeJS.Timeout>();

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
    this.#live.push(service);
    return this.#add(service);
  }

  /**
   * Creates one Service after a while, and says now what it will be: so that somebody can already ask for it when it comes.
   * No churn deletes it.
   */
  announce(afterSeconds: number): AnnouncedService {
    const service = this.#store.cluster.service(this.#nextService++);
    const timer = setTimeout(() => {
      this.#announced.delete(timer);
      this.#add(service);
    }, afterSeconds * 1000);
    this.#announced.add(timer);
    return { name: serviceName(this.#store.cluster, service), address: service.addresses[0] ?? '' };
  }

  /** Deletes the oldest Service that a churn has created; null if there is none. */
  delete(): ServiceChange | null {
    const oldest = this.#live.shift();
    if (oldest === undefined) return null;
    const object = serviceObject(this.#store.cluster, oldest);
    return this.#record('DELETED', oldest, this.#store.remove(SERVICES, object));
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

  /** Ends the churn, and forgets what was announced. */
  close(): void {
    this.run(0);
    for (const timer of this.#announced) clearTimeout(timer);
    this.#announced.clear();
  }

  #add(service: Service): ServiceChange {
    const object = serviceObject(this.#store.cluster, service);
    return this.#record('ADDED', service, this.#store.add(SERVICES, object));
  }

  /** Creates until there are enough, then creates and deletes in turn. */
  #change(): void {
    if (this.#live.length < LIVE_SERVICES) this.create();
    else this.delete();
  }

  #record(type: ServiceChange['type'], service: Service, object: KubeObject): ServiceChange {
    const change: ServiceChange = {
      type,
      name: serviceName(this.#store.cluster, service),
      address: service.addresses[0] ?? '',
      resourceVersion: Number(object.metadata.resourceVersion),
      atSeconds: (performance.timeOrigin + performance.now()) / 1000,
      monotonicSeconds: Number(process.hrtime.bigint()) / 1e9,
    };
    this.#changes.push(change);
    if (this.#changes.length >= 2 * KEPT_CHANGES) this.#changes = this.#changes.slice(-KEPT_CHANGES);
    return change;
  }
}

/**
 * A rollout at once: all endpoints of some services are replaced, as when their Deployments and StatefulSets are updated. The
 * pods behind them are deleted and created with other addresses, and their EndpointSlices are modified.
 */
import { setImmediate } from 'node:timers/promises';
import { PODS_PER_NODE, podAddresses } from '../cluster/addresses.ts';
import { KIND, type Pod, type Service } from '../cluster/cluster.ts';
import { hash, suffix } from '../cluster/hash.ts';
import { podObject, sliceCount, sliceObject } from '../kubernetes/objects.ts';
import { ENDPOINT_SLICES, PODS } from '../kubernetes/resources.ts';
import { serviceName } from '../names/internal.ts';
import type { Store } from './store.ts';

/** A member of a headless service: its name has another address now. */
export interface ReplacedName {
  /** Without a trailing dot. */
  readonly name: string;
  readonly address: string;
}

/** Changes between two turns of the watches, so that they can follow, as those of a real API server do. */
const CHANGES_AT_ONCE = 500;

/** Names that the answer has, the latest: enough for one to be asked for that no cache has. */
const NAMED = 50;

export class Rollouts {
  readonly #store: Store;
  /** How often each service has been replaced. */
  readonly #generations = new Map<number, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Replaces all endpoints of this share of the services, the same in each rollout. A pod that backs several services is
   * replaced in those only.
   * @returns names of members of headless services among them: their pods keep their names and have other addresses
   */
  async run(share: number): Promise<readonly ReplacedName[]> {
    const { cluster } = this.#store;
    const replaced: ReplacedName[] = [];
    let changes = 0;
    for (let index = 0; index < cluster.spec.services; index += 1) {
      // By chance, so that as many of the headless ones are among them as of the others.
      if (hash(cluster.spec.seed, KIND.replicaSet, index) / 2 ** 32 >= share) continue;
      const service = cluster.service(index);
      for (const { hostname, addresses } of this.#replace(service)) {
        changes += 1;
        if (hostname !== null)
          replaced.push({
            name: `${hostname}.${serviceName(cluster, service)}`,
            address: addresses[0] ?? '',
          });
      }
      if (changes < CHANGES_AT_ONCE) continue;
      changes = 0;
      await setImmediate();
    }
    return replaced.slice(-NAMED);
  }

  /** The pods that are new. */
  #replace(service: Service): Pod[] {
    const { cluster } = this.#store;
    const { index, firstEndpoint, endpointCount } = service;
    const before = this.#generations.get(index) ?? 0;
    this.#generations.set(index, before + 1);
    // Beyond the number of pods, endpoints are of pods that were made for another service.
    const own = Array.from({ length: endpointCount }, (_, at) => firstEndpoint + at).filter(
      (endpoint) => endpoint < cluster.spec.pods,
    );
    for (const endpoint of own) {
      this.#store.remove(PODS, podObject(cluster, this.#podOf(endpoint, before)));
      this.#store.add(PODS, podObject(cluster, this.#podOf(endpoint, before + 1)));
    }
    for (let part = 0; part < sliceCount(cluster, service); part += 1) {
      const slice = sliceObject(cluster, service, part, (endpoint) => this.#podOf(endpoint, before + 1));
      this.#store.modify(ENDPOINT_SLICES, slice);
    }
    return own.map((endpoint) => this.#podOf(endpoint, before + 1));
  }

  /** The pod behind an endpoint after so many rollouts: at an address, and on a node, that no other has. */
  #podOf(endpoint: number, generation: number): Pod {
    const { cluster } = this.#store;
    const { seed, dualStack } = cluster.spec;
    const pod = cluster.pod(cluster.podOfEndpoint(endpoint));
    if (generation === 0) return pod;
    const index = pod.index + generation * cluster.nodes * PODS_PER_NODE;
    const ending = suffix(seed, KIND.pod, index);
    // Pods of a StatefulSet keep their names.
    const name = pod.hostname === null ? pod.name.replace(/[^-]*$/, ending) : pod.name;
    return { ...pod, index, name, addresses: podAddresses(index, dualStack) };
  }
}

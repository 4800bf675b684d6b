/** What the targets of connections serve, and how they learn of exceptions. */
import type { Log } from '../packages/server-cluster/src/log/log.ts';
import { ZoneStore } from '../packages/server-cluster/src/store/zone-store.ts';
import { ensure } from './engine/target.ts';

const LARGE = Array.from({ length: 60 }, (_none, index) => `${index} ${'x'.repeat(200)}`);

/** The zone `z.test` with an address and a name whose answer exceeds a datagram. */
export function smallStore(): ZoneStore {
  const store = new ZoneStore();
  store.addZone({
    name: 'z.test',
    records: [
      {
        name: 'z.test',
        type: 'SOA',
        ttl: 60,
        data: { mname: 'n.test', rname: 'h.test', serial: 1, minimum: 60 },
      },
      { name: 'a.z.test', type: 'A', ttl: 60, data: '192.0.2.1' },
      ...LARGE.map((data) => ({ name: 'large.z.test', type: 'TXT', ttl: 60, data: [data] })),
    ],
  } as never);
  return store;
}

/** A log that keeps what the barrier around each connection catches, and a check that breaks the promise once for it. */
export function caughtErrors(): { readonly log: Log; ensureNone(): void } {
  const errors: unknown[] = [];
  const note = (caught: unknown) => {
    errors.push(caught);
  };
  return {
    log: { info: () => undefined, debug: () => undefined, warn: note, error: note },
    ensureNone() {
      const [first] = errors.splice(0);
      ensure(first === undefined, () => `the barrier caught ${JSON.stringify(first)}`);
    },
  };
}

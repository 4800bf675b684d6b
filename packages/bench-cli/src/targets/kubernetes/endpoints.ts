/** Which pods are behind a Service, and when, by its EndpointSlices: what kube-proxy hears, which then takes its time. */
import type { V1EndpointSlice } from '@kubernetes/client-node';
import type { KubeClient } from '../../kubernetes-api/client.ts';
import { follow } from '../../kubernetes-api/watch.ts';

export interface EndpointReading {
  readonly atSeconds: number;
  /** Addresses that take new clients. */
  readonly ready: ReadonlySet<string>;
}

function readyIn(slices: readonly V1EndpointSlice[]): Set<string> {
  return new Set(
    slices.flatMap(({ endpoints }) =>
      (endpoints ?? []).flatMap(({ conditions, addresses }) =>
        conditions?.ready === false ? [] : addresses,
      ),
    ),
  );
}

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>) =>
  one.size === other.size && [...one].every((address) => other.has(address));

/**
 * `goneSeconds`: from then until one that was ready before was no longer; null if all stayed. `backSeconds`: until the ready ones
 * changed for the last time, once one was gone; null if they were fewer than before then.
 */
export function endpointTimes(readings: readonly EndpointReading[], fromSeconds: number) {
  const before = readings.findLast(({ atSeconds }) => atSeconds <= fromSeconds)?.ready ?? new Set<string>();
  const after = readings.filter(({ atSeconds }) => atSeconds > fromSeconds);
  const goneAt = after.findIndex(({ ready }) => [...before].some((address) => !ready.has(address)));
  const gone = after[goneAt];
  if (gone === undefined) return { goneSeconds: null, backSeconds: null };
  // With a surge they are never fewer, and each replacement is a change: only the last one is the end.
  const last = after.findLast(
    ({ ready }, index) => index >= goneAt && !isSame(ready, after[index - 1]?.ready ?? before),
  );
  const back = last !== undefined && last.ready.size >= before.size ? last : undefined;
  const since = (reading: EndpointReading | undefined) =>
    reading === undefined ? null : reading.atSeconds - fromSeconds;
  return { goneSeconds: since(gone), backSeconds: since(back) };
}

/** Resolves after the first reading, and watches until it is disposed of. @throws as `follow` before that */
export async function watchEndpoints(
  client: KubeClient,
  { namespace, service }: { readonly namespace: string; readonly service: string },
  outer: AbortSignal,
) {
  const over = new AbortController();
  const signal = AbortSignal.any([outer, over.signal]);
  const labels = { 'kubernetes.io/service-name': service };
  const readings: EndpointReading[] = [];
  const heard = Promise.withResolvers<void>();
  const watching = (async () => {
    for await (const { objects } of follow(client, { kind: 'EndpointSlice', namespace, labels, signal })) {
      readings.push({ atSeconds: client.clock.monotonicSeconds(), ready: readyIn(objects) });
      heard.resolve();
    }
  })();
  watching.catch(heard.reject);
  await heard.promise;
  return {
    readings,
    async [Symbol.asyncDispose]() {
      over.abort(new Error('the load is over'));
      await watching.catch(() => undefined);
    },
  };
}

/** A worker switches to the zones that it is told to, and to no others, however long loading takes. */
import { expect, test } from 'vitest';
import { PreparedZones } from '../src/cluster/serve-as-worker.ts';

function slowLoad(zones: string, served: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const load = async () => {
    await promise;
    return () => {
      served.push(zones);
    };
  };
  return { load, finish: resolve };
}

test('zones that were aborted while they were loaded are never served', async () => {
  const served: string[] = [];
  const zones = new PreparedZones();
  const slow = slowLoad('wrong', served);
  const first = zones.prepare(1, slow.load);
  zones.abort(1);
  // The reload is tried again for the same generation, and this time loading is quick.
  await zones.prepare(2, async () => () => served.push('right'));
  slow.finish();
  await first;
  zones.commit(2, 1);
  expect(served).toEqual(['right']);
  expect(() => zones.commit(1, 1)).toThrow('Attempt 1 has no zones');
});

test('zones of an earlier generation do not replace later ones', async () => {
  const served: string[] = [];
  const zones = new PreparedZones();
  for (const attempt of [1, 2]) await zones.prepare(attempt, async () => () => served.push(`${attempt}`));
  zones.commit(2, 2);
  zones.commit(1, 1);
  expect(served).toEqual(['2']);
});

test('a load that fails leaves nothing behind', async () => {
  const zones = new PreparedZones();
  await expect(zones.prepare(1, () => Promise.reject(new Error('no such file')))).rejects.toThrow(
    'no such file',
  );
  expect(() => zones.commit(1, 1)).toThrow('Attempt 1 has no zones');
});

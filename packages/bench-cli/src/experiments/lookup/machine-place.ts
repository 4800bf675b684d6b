/** This machine as it is: its resolver, its network, whatever else runs on it. */
import { isIP } from 'node:net';
import { findDaemon, findExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import { withParentDeathSignal } from '../../targets/local/wrapping.ts';
import type { World } from '../../world.ts';
import type { Place, Tap } from './place.ts';

/** The name servers of a resolv.conf. */
export function nameServersIn(resolvConf: string): string[] {
  return resolvConf.split('\n').flatMap((line) => {
    const address = /^\s*nameserver\s+(\S+)/.exec(line)?.[1]?.split('%')[0] ?? '';
    return isIP(address) === 0 ? [] : [address];
  });
}

/** The interface behind an address, by `ip route get`; null if it cannot be told. */
async function interfaceTo(world: World, ip: string, address: string): Promise<string | null> {
  const { stdout, code } = await runToEnd(world, [ip, 'route', 'get', address]);
  return code === 0 ? (/\bdev (\S+)/.exec(stdout)?.[1] ?? null) : null;
}

/** The interfaces on which connections to `addresses` and queries are seen: not `any`, where a packet can be seen twice. */
async function tapsTo(world: World, addresses: readonly string[], enter: Tap['enter']): Promise<Tap[]> {
  const ip = await findDaemon(world, 'ip');
  if (ip === null) return [];
  const interfacesTo = async (all: readonly string[]) => {
    const found = await Promise.all(all.map((address) => interfaceTo(world, ip, address)));
    return new Set(found.filter((name) => name !== null));
  };
  const resolvConf = (await readIfThere(world, '/etc/resolv.conf')) ?? '';
  const asked = await interfacesTo(nameServersIn(resolvConf));
  const all = new Set([...(await interfacesTo(addresses)), ...asked]);
  return [...all].map((name) => ({ interface: name, seesQueries: asked.has(name), enter }));
}

/** `addresses`: of the site. */
export async function machinePlace(world: World, addresses: readonly string[]): Promise<Place> {
  const setpriv = await findExecutable(world, 'setpriv');
  const enter = (command: readonly string[]) => withParentDeathSignal(setpriv, command);
  return {
    name: 'this machine',
    enter,
    addresses,
    taps: await tapsTo(world, addresses, enter),
    scope: 'machine',
    siteRepeats: async () => null,
    prepare: async () => new AsyncDisposableStack(),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

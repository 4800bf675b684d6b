/** This machine as it is: its resolver, its network, whatever else runs on it. */
import { isIP } from 'node:net';
import { findExecutable } from '../../machine/find-executable.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import { runToEnd } from '../../process.ts';
import type { World } from '../../world.ts';
import type { Place } from './place.ts';

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
async function interfacesTo(world: World, addresses: readonly string[]): Promise<string[]> {
  const ip = await findExecutable(world, 'ip');
  if (ip === null) return [];
  const resolvConf = (await readIfThere(world, '/etc/resolv.conf')) ?? '';
  const found = await Promise.all(
    [...addresses, ...nameServersIn(resolvConf)].map((address) => interfaceTo(world, ip, address)),
  );
  return [...new Set(found.filter((name) => name !== null))];
}

/** `addresses`: of the site. */
export async function machinePlace(world: World, addresses: readonly string[]): Promise<Place> {
  const enter = (command: readonly string[]) => command;
  const interfaces = await interfacesTo(world, addresses);
  return {
    name: 'this machine',
    enter,
    addresses,
    taps: interfaces.map((name) => ({ interface: name, enter })),
    scope: 'machine',
    siteRepeats: async () => null,
    prepare: async () => new AsyncDisposableStack(),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

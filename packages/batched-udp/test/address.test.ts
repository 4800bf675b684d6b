import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { formatAddress, parseAddress } from '../src/address.ts';
import { decodeSockaddr, encodeSockaddr } from '../src/native/sockaddr.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['2001:DB8::0:1', '2001:db8::1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'], // One zero group is not abbreviated (RFC 5952, 4.2.2).
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'], // The longer run is (4.2.3).
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'], // Of two equal ones the first.
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['::192.0.2.7', '::192.0.2.7'], // As inet_ntop writes it, and so `node:dgram`.
  ['64:ff9b::192.0.2.7', '64:ff9b::c000:207'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
])('reads %s and writes %s', (text, canonical) => {
  const { family, bytes } = parseAddress(text);
  expect(formatAddress(bytes, 0, family)).toBe(canonical);
});

it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', ':::', '1.2.3.4%eth0', '::1%', '::1%no-such-interface'])(
  'refuses %j',
  (text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'ERR_UDP_ADDRESS' }));
  },
);

it('keeps the zone of a link-local address, by index and by name', () => {
  const numeric = parseAddress('fe80::1%4711');
  expect(numeric.scope).toBe(4711);
  expect(decodeSockaddr(encodeSockaddr(numeric, 53))).toEqual({
    address: 'fe80::1%4711',
    family: 6,
    port: 53,
  });
  for (const [name, entries] of Object.entries(networkInterfaces())) {
    for (const entry of entries ?? []) {
      if (entry.family !== 'IPv6' || !entry.scopeid) continue;
      const address = parseAddress(`${entry.address}%${name}`);
      expect(address.scope).toBe(entry.scopeid);
      expect(decodeSockaddr(encodeSockaddr(address, 53)).address).toBe(`${entry.address}%${name}`);
    }
  }
});

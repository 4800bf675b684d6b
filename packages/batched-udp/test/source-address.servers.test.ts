/** Replies leave from the IPv6 address that was asked, in a network namespace that has several. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileNeeds, namespaceName } from '@dinodns-bench/test-support';
import { afterAll, beforeAll, expect } from 'vitest';

const { it } = fileNeeds('ip', 'root');

const run = promisify(execFile);
const program = fileURLToPath(new URL('support/own-addresses.ts', import.meta.url));
const name = namespaceName('own');
const ip = (...args: string[]) => run('ip', args);

/** The first is what the kernel would choose for most others; the last is one of an interface. */
const ADDRESSES = ['fd00:53::1', 'fd00:53::2', 'fd00:53::3', '10.99.1.1', '10.99.1.2', 'fe80::53%own'];

beforeAll(async () => {
  await ip('netns', 'add', name);
  await ip('-n', name, 'link', 'set', 'lo', 'up');
  await ip('-n', name, 'link', 'add', 'own', 'type', 'veth', 'peer', 'name', 'other');
  await ip('-n', name, 'link', 'set', 'own', 'up');
  await ip('-n', name, 'link', 'set', 'other', 'up');
  for (const address of ADDRESSES) {
    const isV6 = address.includes(':');
    const prefix = `${address.replace(/%.*/, '')}/${isV6 ? 64 : 24}`;
    await ip('-n', name, 'addr', 'add', prefix, 'dev', 'own', ...(isV6 ? ['nodad'] : []));
  }
});
afterAll(() => ip('netns', 'del', name));

it('answers at each of its addresses, in place and later', async () => {
  const { stdout } = await ip('netns', 'exec', name, process.execPath, program, ...ADDRESSES);
  expect(JSON.parse(stdout)).toEqual({
    answered: ADDRESSES.flatMap((address) => [address, address]).toSorted(),
    sendErrors: 0,
  });
});

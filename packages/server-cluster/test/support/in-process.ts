/** A server inside the test's own process, for tests that add their own handlers or zones. */
import {
  createServer,
  type Ready,
  type Server,
  type ServerOptions,
  type ZoneInput,
} from '../../src/index.ts';

export type Record = ZoneInput['records'] extends Iterable<infer T> ? T : never;

/** A zone with these records under `example.org` and an SOA record (TTL 900, negative TTL 300). */
export function zone(records: readonly Record[], name = 'example.org'): ZoneInput {
  const soa = { mname: 'ns.example.net', rname: 'admin.example.net', serial: 1, minimum: 300 };
  return { name, records: [record(name, 'SOA', soa, 900), ...records] };
}

export function record(name: string, type: string, data: unknown, ttl = 60): Record {
  return { name, type, ttl, data };
}

export async function startInProcess(
  options: ServerOptions = {},
  zones?: readonly ZoneInput[],
): Promise<Server & { ready: Ready }> {
  const source = zones === undefined ? {} : { zones: { zones: () => zones } };
  // Handlers that fail on purpose should not fill the test's output.
  const server = createServer({ port: 0, logLevel: 'silent', ...source, ...options });
  return { ...server, ready: await server.start() };
}

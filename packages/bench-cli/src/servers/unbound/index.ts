/** Unbound, where it is installed: a resolver that answers from `local-data` alone, one thread per vCPU. */
import type { Endpoint } from '../../dns/endpoint.ts';
import { installedServer } from '../installed.ts';
import type { ForwardOptions, InstancePlan, InstanceRequest, ServerKind } from '../server.ts';

/** As `serve_stale` of CoreDNS: at once, for an hour. Versions of Unbound have different defaults. */
const SERVE_STALE = `  serve-expired: yes
  serve-expired-ttl: 3600
  serve-expired-client-timeout: 0
`;

// -d: stay in the foreground; the threads are the same.
const argumentsIn = (directory: string) => ['-d', '-c', `${directory}/unbound.conf`];

const definition = installedServer({
  executable: 'unbound',
  packages: 'unbound',
  // `Version 1.17.1`
  question: { arguments: ['-V'], pattern: /^Version (\d[\w.]*)/m },
  transports: ['udp', 'tcp', 'tls', 'https'],
  format: 'unbound',
  arguments: argumentsIn,
});

function planForwarding(
  request: InstanceRequest,
  upstream: Endpoint,
  { cacheSeconds, serveStale = false }: ForwardOptions = {},
): InstancePlan {
  const { directory, address, port, cpus, program } = request;
  const workers = Math.max(1, Math.ceil(cpus));
  const text = `server:
  interface: ${address}@${port}
  port: ${port}
  num-threads: ${workers}
  so-reuseport: yes
  # Runs as the user who starts it.
  username: ""
  chroot: ""
  directory: "${directory}"
  pidfile: ""
  use-syslog: no
  # The answer check asks without the RD bit.
  access-control: 127.0.0.0/8 allow_setrd
  access-control: ::1 allow_setrd
  # Without the validator: the upstream signs nothing.
  module-config: "iterator"
  do-not-query-localhost: no
${cacheSeconds === undefined ? '' : `  cache-max-ttl: ${cacheSeconds}\n`}${serveStale ? SERVE_STALE : ''}forward-zone:
  name: "."
  forward-addr: ${upstream.address}@${upstream.port}
remote-control:
  control-enable: no
`;
  return {
    files: [{ path: 'unbound.conf', chunks: [text] }],
    command: [...program, ...argumentsIn(directory)],
    readiness: { kind: 'answer' },
    workers,
  };
}

export const unbound: ServerKind = {
  name: 'unbound',
  title: 'Unbound',
  description: 'Unbound with `local-data`, no recursion, one thread for each vCPU (if installed)',
  definition: { ...definition, planForwarding },
};

/**
 * PowerDNS Authoritative Server, where it is installed, with its bind backend: one receiver thread with a socket of
 * its own per vCPU, which asks the backend itself (docs: "Performance and Tuning"). As shipped it answers repeated
 * queries from its packet cache; the variant `uncached` asks the backend each time.
 */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';

/** `Nov 22 05:08:29 PowerDNS Authoritative Server 4.7.3 (C) 2001-2022 PowerDNS.COM BV`, on standard error */
const VERSION: VersionQuestion = {
  arguments: ['--version'],
  pattern: /PowerDNS Authoritative Server (\d[\w.-]*)/,
};

const program = installedProgram(
  { name: 'pdns_server', question: VERSION },
  { 'apt-get': 'pdns-server pdns-backend-bind', dnf: 'pdns', apk: 'pdns pdns-backend-bind' },
);

function definition({ caches }: { readonly caches: boolean }): ServerDefinition {
  return {
    program,
    image: null,
    answersUnknownZoneWith: 'REFUSED',
    unsupported: () => null,
    plan(request: InstanceRequest) {
      const workers = Math.max(1, Math.ceil(request.cpus));
      const { directory, address, port } = request;
      const options = { directory, address, port, workers, powerdns: { caches } };
      return {
        files: [...findFormat('powerdns').render(request.zoneSet, options)],
        command: [...request.program, `--config-dir=${directory}`],
        env: {},
        readiness: { kind: 'answer' },
        workers,
      };
    },
    versionArguments: VERSION.arguments,
    parseVersion(output) {
      const version = readVersion(VERSION, output);
      return version === null ? null : { version, components: {} };
    },
  };
}

export const powerdns: ServerKind = {
  name: 'powerdns',
  title: 'PowerDNS',
  description: 'PowerDNS with zone files and its caches, one receiver thread for each vCPU (if installed)',
  definition: definition({ caches: true }),
  variants: {
    uncached: {
      title: 'uncached',
      description: 'the same without packet and query caches: every answer comes from its backend',
      definition: definition({ caches: false }),
    },
  },
};

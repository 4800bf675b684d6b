/**
 * PowerDNS Authoritative Server, where it is installed, with its bind backend: one receiver thread with a socket of
 * its own per vCPU, which asks the backend itself (docs: "Performance and Tuning"). As shipped it answers repeated
 * queries from its packet cache; the variant `uncached` asks the backend each time.
 */
import { installedServer } from '../installed.ts';
import type { ServerKind } from '../server.ts';

const definition = ({ caches }: { readonly caches: boolean }) =>
  installedServer({
    executable: 'pdns_server',
    packages: { 'apt-get': 'pdns-server pdns-backend-bind', dnf: 'pdns', apk: 'pdns pdns-backend-bind' },
    // `Nov 22 05:08:29 PowerDNS Authoritative Server 4.7.3 (C) 2001-2022 PowerDNS.COM BV`, on standard error
    question: { arguments: ['--version'], pattern: /PowerDNS Authoritative Server (\d[\w.-]*)/ },
    format: 'powerdns',
    options: { powerdns: { caches } },
    arguments: (directory) => [`--config-dir=${directory}`],
  });

const cached = definition({ caches: true });

export const powerdns: ServerKind = {
  name: 'powerdns',
  title: 'PowerDNS',
  description: 'PowerDNS with zone files and its caches, one receiver thread for each vCPU (if installed)',
  definition: cached,
  variants: {
    uncached: {
      title: 'uncached',
      description: 'the same without packet and query caches: every answer comes from its backend',
      // The same program, which `bench doctor` lists once.
      definition: { ...definition({ caches: false }), program: cached.program },
    },
  },
};

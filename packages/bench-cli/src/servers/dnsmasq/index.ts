/** dnsmasq, where it is installed: answers from its configuration. It has one thread, in mode `multi` as well. */
import { installedServer } from '../installed.ts';
import type { ServerKind } from '../server.ts';

export const dnsmasq: ServerKind = {
  name: 'dnsmasq',
  title: 'dnsmasq',
  description: 'dnsmasq with `host-record` lines, one thread whatever the tier (if installed)',
  definition: installedServer({
    executable: 'dnsmasq',
    packages: { 'apt-get': 'dnsmasq-base', dnf: 'dnsmasq', apk: 'dnsmasq' },
    // `Dnsmasq version 2.90  Copyright (c) 2000-2024 Simon Kelley`
    question: { arguments: ['--version'], pattern: /^Dnsmasq version (\d[\w.]*)/m },
    workers: () => 1,
    format: 'dnsmasq',
    // --log-facility: standard error, instead of syslog.
    arguments: (directory) => [
      '--keep-in-foreground',
      '--log-facility=-',
      `--conf-file=${directory}/dnsmasq.conf`,
    ],
  }),
};

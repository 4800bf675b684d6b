/** dnsmasq, where it is installed: answers from its configuration. It has one thread, in mode `multi` as well. */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';

/** `Dnsmasq version 2.90  Copyright (c) 2000-2024 Simon Kelley` */
const VERSION: VersionQuestion = { arguments: ['--version'], pattern: /^Dnsmasq version (\d[\w.]*)/m };

const definition: ServerDefinition = {
  program: installedProgram(
    { name: 'dnsmasq', question: VERSION },
    { 'apt-get': 'dnsmasq-base', dnf: 'dnsmasq', apk: 'dnsmasq' },
  ),
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: () => null,
  plan({ zoneSet, directory, address, port, program }: InstanceRequest) {
    return {
      files: [...findFormat('dnsmasq').render(zoneSet, { directory, address, port })],
      command: [
        ...program,
        '--keep-in-foreground',
        // Standard error, instead of syslog.
        '--log-facility=-',
        `--conf-file=${directory}/dnsmasq.conf`,
      ],
      env: {},
      readiness: { kind: 'answer' },
      workers: 1,
    };
  },
  versionArguments: VERSION.arguments,
  parseVersion(output) {
    const version = readVersion(VERSION, output);
    return version === null ? null : { version, components: {} };
  },
};

export const dnsmasq: ServerKind = {
  name: 'dnsmasq',
  title: 'dnsmasq',
  description: 'dnsmasq with `host-record` lines, one thread whatever the tier (if installed)',
  definition,
};

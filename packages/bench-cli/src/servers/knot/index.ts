/** Knot DNS, where it is installed: an authoritative server in C, one UDP worker per vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';

/** `knotd (Knot DNS), version 3.2.6` */
const VERSION: VersionQuestion = { arguments: ['--version'], pattern: /version (\d[\w.]*)/ };

const definition: ServerDefinition = {
  program: installedProgram({ name: 'knotd', question: VERSION }, 'knot'),
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  // Over TLS only from 3.4 on, which no stable release of Debian had when this was written.
  transports: ['udp', 'tcp'],
  unsupported: () => null,
  servesSigned: true,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port, signedZones: zoneFiles } = request;
    return {
      files: [
        ...findFormat('knot').render(request.zoneSet, { directory, address, port, workers, zoneFiles }),
      ],
      command: [...request.program, '-c', `${directory}/knot.conf`],
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

export const knot: ServerKind = {
  name: 'knot',
  title: 'Knot DNS',
  description: 'Knot DNS with zone files, one UDP worker for each vCPU (if installed)',
  definition,
};

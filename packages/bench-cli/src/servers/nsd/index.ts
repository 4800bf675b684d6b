/** NSD, where it is installed: an authoritative server in C, one server process per vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import { encryptionOf, type InstanceRequest, type ServerDefinition, type ServerKind } from '../server.ts';

/** `NSD version 4.6.1, on standard error` */
const VERSION: VersionQuestion = { arguments: ['-v'], pattern: /NSD version (\d[\w.]*)/ };

const definition: ServerDefinition = {
  program: installedProgram({ name: 'nsd', question: VERSION }, 'nsd'),
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  transports: ['udp', 'tcp', 'tls'],
  unsupported: () => null,
  servesSigned: true,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port, signedZones: zoneFiles } = request;
    return {
      files: [
        ...findFormat('nsd').render(request.zoneSet, {
          directory,
          address,
          port,
          workers,
          zoneFiles,
          ...encryptionOf(request),
        }),
      ],
      // -d: stay in the foreground, so that the process that was started is the server.
      command: [...request.program, '-d', '-c', `${directory}/nsd.conf`],
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

export const nsd: ServerKind = {
  name: 'nsd',
  title: 'NSD',
  description: 'NSD with zone files, one server process for each vCPU (if installed)',
  definition,
};

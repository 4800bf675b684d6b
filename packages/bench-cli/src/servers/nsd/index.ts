/** NSD, where it is installed: an authoritative server in C, one server process for each vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import type { InstanceRequest, ServerKind } from '../server.ts';

export const nsd: ServerKind = {
  name: 'nsd',
  title: 'NSD',
  description: 'NSD with zone files, one server process for each vCPU (if installed)',
  tool: 'nsd',
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: () => null,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port } = request;
    return {
      files: [...findFormat('nsd').render(request.zoneSet, { directory, address, port, workers })],
      // -d: stay in the foreground, so that the process that was started is the server.
      command: [...request.program, '-d', '-c', `${directory}/nsd.conf`],
      env: {},
      readiness: { kind: 'answer' },
      workers,
    };
  },
  versionArguments: ['-v'],
  parseVersion(output) {
    const version = /NSD version (\d[\w.]*)/.exec(output)?.[1];
    return version === undefined ? null : { version, components: {} };
  },
};

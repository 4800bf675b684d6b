/** Knot DNS, where it is installed: an authoritative server in C, one UDP worker for each vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import type { InstanceRequest, ServerKind } from '../server.ts';

export const knot: ServerKind = {
  name: 'knot',
  title: 'Knot DNS',
  description: 'Knot DNS with zone files, one UDP worker for each vCPU (if installed)',
  tool: 'knotd',
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: () => null,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port } = request;
    return {
      files: [...findFormat('knot').render(request.zoneSet, { directory, address, port, workers })],
      command: [...request.program, '-c', `${directory}/knot.conf`],
      env: {},
      readiness: { kind: 'answer' },
      workers,
    };
  },
  versionArguments: ['--version'],
  parseVersion(output) {
    const version = /version (\d[\w.]*)/.exec(output)?.[1];
    return version === undefined ? null : { version, components: {} };
  },
};

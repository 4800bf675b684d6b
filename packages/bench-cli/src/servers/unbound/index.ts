/** Unbound, where it is installed: a resolver that answers from `local-data` alone, one thread per vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';

/** `Version 1.17.1` */
const VERSION: VersionQuestion = { arguments: ['-V'], pattern: /^Version (\d[\w.]*)/m };

const definition: ServerDefinition = {
  program: installedProgram({ name: 'unbound', question: VERSION }, 'unbound'),
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: () => null,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port } = request;
    return {
      files: [...findFormat('unbound').render(request.zoneSet, { directory, address, port, workers })],
      // -d: stay in the foreground; the threads are the same.
      command: [...request.program, '-d', '-c', `${directory}/unbound.conf`],
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

export const unbound: ServerKind = {
  name: 'unbound',
  title: 'Unbound',
  description: 'Unbound with `local-data`, no recursion, one thread for each vCPU (if installed)',
  definition,
};

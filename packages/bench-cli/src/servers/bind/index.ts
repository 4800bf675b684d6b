/** BIND 9, where it is installed: the reference implementation, one worker thread per vCPU. */
import { findFormat } from '@dinodns-bench/zones';
import { installedProgram } from '../../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../../provision/tool-version.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';

/** `BIND 9.18.49-1~deb12u3-Debian (Extended Support Version) <id:>` */
const VERSION: VersionQuestion = { arguments: ['-v'], pattern: /^BIND (\d+(?:\.\d+)*)/m };

/** Until its configuration is read, BIND can log only to a file or to syslog. */
const EARLY_LOG = 'named.log';

const definition: ServerDefinition = {
  program: installedProgram(
    { name: 'named', question: VERSION },
    { 'apt-get': 'bind9', dnf: 'bind', apk: 'bind' },
  ),
  image: null,
  answersUnknownZoneWith: 'REFUSED',
  unsupported: () => null,
  plan(request: InstanceRequest) {
    const workers = Math.max(1, Math.ceil(request.cpus));
    const { directory, address, port } = request;
    return {
      files: [...findFormat('bind').render(request.zoneSet, { directory, address, port, workers })],
      // -f: stay in the foreground. -g would log every query that it refuses.
      command: [
        ...request.program,
        ...['-f', '-L', `${directory}/${EARLY_LOG}`, '-n', String(workers)],
        ...['-c', `${directory}/named.conf`],
      ],
      env: {},
      readiness: { kind: 'answer' },
      workers,
      logFile: EARLY_LOG,
    };
  },
  versionArguments: VERSION.arguments,
  parseVersion(output) {
    const version = readVersion(VERSION, output);
    return version === null ? null : { version, components: {} };
  },
};

export const bind: ServerKind = {
  name: 'bind',
  title: 'BIND',
  description: 'BIND 9 with zone files, one worker thread for each vCPU (if installed)',
  definition,
};

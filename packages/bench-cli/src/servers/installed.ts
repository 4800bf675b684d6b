/** What servers have in common that are measured as the system installed them: one program, no choice of versions. */
import { findFormat, type RenderOptions } from '@dinodns-bench/zones';
import { installedProgram } from '../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../provision/tool-version.ts';
import { encryptionOf, type InstancePlan, type ServerDefinition } from './server.ts';

export interface InstalledServer
  extends Partial<Pick<ServerDefinition, 'image' | 'transports' | 'readsZoneFiles'>>,
    Pick<InstancePlan, 'logFile'> {
  readonly executable: string;
  /** The package that contains it: one name for all systems, or one for each package manager. */
  readonly packages: Parameters<typeof installedProgram>[1];
  readonly question: VersionQuestion;
  /** Threads or processes that answer, for an instance with this many cores. Default: one for each, at least one. */
  readonly workers?: (cpus: number) => number;
  /** The format of `@dinodns-bench/zones` that configures it, with options of its own. */
  readonly format: Parameters<typeof findFormat>[0];
  readonly options?: Pick<RenderOptions, 'powerdns'>;
  /** With its files in `directory`, in the foreground, so that the process that was started is the server. */
  arguments(directory: string, workers: number): readonly string[];
}

const onePerCpu = (cpus: number) => Math.max(1, Math.ceil(cpus));

/** All of them refuse names outside their zones, and are ready when they answer. */
export function installedServer({
  executable,
  packages,
  question,
  image = null,
  workers: workersFor = onePerCpu,
  format,
  options,
  arguments: argumentsFor,
  logFile,
  ...optional
}: InstalledServer): ServerDefinition {
  return {
    program: installedProgram({ name: executable, question }, packages),
    image,
    answersUnknownZoneWith: 'REFUSED',
    ...optional,
    plan(request) {
      const { zoneSet, directory, stateDirectory, address, port, program, zoneFiles } = request;
      const workers = workersFor(request.cpus);
      const given = { directory, stateDirectory, address, port, workers, zoneFiles, ...options };
      return {
        files: [...findFormat(format).render(zoneSet, { ...given, ...encryptionOf(request) })],
        command: [...program, ...argumentsFor(directory, workers)],
        readiness: { kind: 'answer' },
        workers,
        ...(logFile === undefined ? {} : { logFile }),
      };
    },
    versionArguments: question.arguments,
    parseVersion(output) {
      const version = readVersion(question, output);
      return version === null ? null : { version, components: {} };
    },
  };
}

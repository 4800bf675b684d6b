/** What servers have in common that are measured as the system installed them: one program, no choice of versions. */
import { installedProgram } from '../provision/path-tools.ts';
import { readVersion, type VersionQuestion } from '../provision/tool-version.ts';
import type { InstancePlan, InstanceRequest, ServerDefinition, ServerImage } from './server.ts';

export interface InstalledServer extends Pick<ServerDefinition, 'transports' | 'readsZoneFiles'> {
  readonly executable: string;
  /** The package that contains it: one name for all systems, or one for each package manager. */
  readonly packages: Parameters<typeof installedProgram>[1];
  readonly question: VersionQuestion;
  /** Default: none; it does not run in clusters. */
  readonly image?: ServerImage;
  /** Threads or processes that answer, for an instance with this many cores. Default: one for each, at least one. */
  readonly workers?: (cpus: number) => number;
  plan(request: InstanceRequest, workers: number): Pick<InstancePlan, 'files' | 'command' | 'logFile'>;
}

const onePerCpu = (cpus: number) => Math.max(1, Math.ceil(cpus));

/** All of them refuse names outside their zones, and are ready when they answer. */
export function installedServer(server: InstalledServer): ServerDefinition {
  const {
    executable,
    packages,
    question,
    image = null,
    workers: workersFor = onePerCpu,
    transports,
    readsZoneFiles,
  } = server;
  return {
    program: installedProgram({ name: executable, question }, packages),
    image,
    answersUnknownZoneWith: 'REFUSED',
    unsupported: () => null,
    ...(transports === undefined ? {} : { transports }),
    ...(readsZoneFiles === undefined ? {} : { readsZoneFiles }),
    plan(request) {
      const workers = workersFor(request.cpus);
      return { ...server.plan(request, workers), env: {}, readiness: { kind: 'answer' }, workers };
    },
    versionArguments: question.arguments,
    parseVersion(output) {
      const version = readVersion(question, output);
      return version === null ? null : { version, components: {} };
    },
  };
}

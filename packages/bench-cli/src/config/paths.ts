/** The ways from a loader to the pods of a server, `--path`: one for all, or several that a run compares. Pure. */
import { caseNameOf } from './server-name.ts';

/** What stands behind a server's title in tables. */
const TITLES = {
  service: 'Service address',
  pod: 'pod address',
  local: 'node-local Service',
  headless: 'headless Service',
} as const;

export type ServicePath = keyof typeof TITLES;

/** As `--path` takes them, the default first. */
export const SERVICE_PATHS = ['service', 'pod', 'local', 'headless'] as const satisfies ServicePath[];

/** What `--path` comes to: on this machine, it has no effect. */
export function pathFor({ path, target }: { readonly path: string; readonly target: string }): string {
  return target === 'kubernetes' ? path : SERVICE_PATHS[0];
}

/** `setting`: as `--path` has them, `pod,service`. */
export function pathsOf(setting: string): ServicePath[] {
  return setting.split(',') as ServicePath[];
}

/** What cases call a server that is reached by one of several paths: `coredns:pod`. */
function nameBy(server: string, path: ServicePath): string {
  return `${server}:${path}`;
}

/** `coredns` for `coredns:pod`. */
export function withoutPath(name: string): string {
  return SERVICE_PATHS.reduce(
    (rest, path) => (rest.endsWith(`:${path}`) ? rest.slice(0, -path.length - 1) : rest),
    name,
  );
}

/** The names of what a run compares: its servers, or with several paths each server once for each. */
export function subjectNames(servers: readonly string[], setting: string): string[] {
  const names = servers.map(caseNameOf);
  const paths = pathsOf(setting);
  return paths.length === 1 ? names : names.flatMap((name) => paths.map((each) => nameBy(name, each)));
}

/** The baseline among `subjectNames`: the pod's own address among several paths, otherwise the first subject. */
export function baselineOf(baseline: string, servers: readonly string[], setting: string): string {
  const names = subjectNames(servers, setting);
  const paths = pathsOf(setting);
  const byPath = nameBy(baseline, paths.includes('pod') ? 'pod' : (paths[0] ?? 'service'));
  return !names.includes(baseline) && names.includes(byPath) ? byPath : baseline;
}

/** Each server once for each of several paths, with a name and a title that say which. */
export function byPaths<S extends { readonly name: string; readonly title: string }>(
  all: readonly S[],
  setting: string,
): (S & { readonly path?: ServicePath })[] {
  const paths = pathsOf(setting);
  if (paths.length === 1) return [...all];
  return all.flatMap((server) =>
    paths.map((path) => ({
      ...server,
      path,
      name: nameBy(server.name, path),
      title: `${server.title}, ${TITLES[path]}`,
    })),
  );
}

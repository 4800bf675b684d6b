/** Settings that are valid on their own but not together. Pure. */
import { KUBERNETES_SETTINGS } from './kubernetes-settings.ts';
import { baselineOf, pathFor, pathsOf, subjectNames } from './paths.ts';
import { flagName, type SettingTable, shownValue } from './setting.ts';
import { OTHER_VARIABLES, SETTINGS, type Settings, variableOf } from './settings.ts';

/** Each zone is signed by a process of its own, which takes about 20 ms. */
const MAX_SIGNED_ZONES = 2000;

/** Settings that are valid on their own but not together. */
export function crossProblems(settings: Settings, baselineGiven: boolean): string[] {
  const problems: string[] = [];
  const { baseline, servers } = settings;
  const path = pathFor(settings);
  const subjects = subjectNames(servers, path);
  if (baselineGiven && !subjects.includes(baselineOf(baseline, servers, path))) {
    const ways = subjects.length > servers.length ? ` by --path ${path}` : '';
    problems.push(
      `--baseline: "${baseline}" is not among --servers ${servers.join(',')}${ways}; add it or choose one of them`,
    );
  }
  if (settings.threads > settings.clients) {
    problems.push(
      `--threads: ${settings.threads} threads need at least as many sockets; raise --clients (now ${settings.clients})`,
    );
  }
  if (settings.threads > settings.outstanding) {
    problems.push(
      `--threads: ${settings.threads} threads share --outstanding ${settings.outstanding}; raise it to at least one each`,
    );
  }
  problems.push(...openLoopProblems(settings), ...objectiveProblems(settings), ...untilProblems(settings));
  problems.push(...signingProblems(settings), ...pathProblems(settings), ...replicaProblems(settings));
  return [...problems, ...repeatedEntries(SETTINGS, settings)];
}

/** dnsperf has no open loop, and without a rate there is no schedule. */
function openLoopProblems({ openLoop, loader, rate: rates }: Settings): string[] {
  if (!openLoop) return [];
  const problems: string[] = [];
  if (loader !== 'builtin')
    problems.push('--open-loop: only the built-in loader has an open loop; add --loader builtin');
  if (rates.includes('max'))
    problems.push('--open-loop: a schedule needs a rate; give both, for example --rate 20000');
  return problems;
}

/** Zones are signed one by one, on this machine. */
function signingProblems({ dnssec, zones, target }: Settings): string[] {
  if (!dnssec) return [];
  const problems: string[] = [];
  if (zones > MAX_SIGNED_ZONES)
    problems.push(`--dnssec: signs at most ${MAX_SIGNED_ZONES} zones; lower --zones (now ${zones})`);
  if (target === 'kubernetes')
    problems.push('--dnssec: signed zones are files of this machine; omit --target kubernetes');
  return problems;
}

const hasOnePod = ({ mode, tier }: Settings) => mode === 'multi' || tier.every((value) => value <= 1);

/** Only a load balancer shares the queries among pods, and with `local` only among those of the loader's node. */
function pathProblems(settings: Settings): string[] {
  const { path, target, servers, duet, serverNode, replicas } = settings;
  if (target !== 'kubernetes') return [];
  const paths = pathsOf(path);
  if (paths.length > 1 && servers.length > 1) {
    return [
      `--path: ${paths.length} paths to one server are compared; give one with --servers (now ${servers.join(',')}), or one path`,
    ];
  }
  const toOne = paths.find((each) => each === 'pod' || each === 'headless');
  const isAlone = hasOnePod(settings);
  if (toOne !== undefined && !isAlone)
    return [`--path: ${toOne} leads to one pod; use --mode multi, tiers up to 1, or --path service`];
  const hasOthers = !isAlone || (paths.length > 1 && duet === 'on');
  if (!hasOthers || !paths.includes('local')) return [];
  if (replicas === 'spread')
    return ['--path: local leads to pods of one node only; use --path service, or omit --replicas spread'];
  // A label may fit several nodes. Servers of a duet are packed each for itself.
  if (serverNode?.includes('=') === false || (replicas === 'packed' && duet === 'off')) return [];
  const ways = duet === 'off' ? '--server-node NAME or --replicas packed' : '--server-node NAME';
  return [
    `--path: local leads to pods of one node only; put all of them on one with ${ways} (labels may fit several nodes)`,
  ];
}

function replicaProblems(settings: Settings): string[] {
  const { target, replicas } = settings;
  return target === 'kubernetes' && replicas !== undefined && hasOnePod(settings)
    ? [`--replicas: ${replicas} needs several pods; use --mode single with a --tier above 1, or omit it`]
    : [];
}

/** The search needs open loops, which only the built-in loader has, and finds the rate itself. */
function objectiveProblems({ objective, loader, rate }: Settings): string[] {
  if (objective !== 'max-rate') return [];
  const problems: string[] = [];
  if (loader === 'dnsperf')
    problems.push('--objective: max-rate needs open loops, which dnsperf lacks; use --loader builtin');
  if (rate.some((value) => value !== 'max'))
    problems.push('--rate: max-rate finds the rate itself; omit --rate');
  return problems;
}

/** With `--until`, `--trials` is the minimum and `--max-trials` the maximum. */
export function untilProblems({
  until,
  trials,
  maxTrials,
}: Pick<Settings, 'until' | 'trials' | 'maxTrials'>): string[] {
  return until !== undefined && trials > maxTrials
    ? [`--trials: ${trials} are more than --max-trials ${maxTrials}; raise that as well`]
    : [];
}

/** What would give a setting an effect that it does not have with the others; null if it has one. */
export function idleReason(
  table: SettingTable,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): string | null {
  const { needs, targets } = table[name] ?? {};
  // An experiment that says what it needs may use it on this machine as well.
  const isOfCluster = name !== 'target' && needs === undefined && Object.hasOwn(KUBERNETES_SETTINGS, name);
  if (isOfCluster && settings.target === 'local') return '--target kubernetes';
  const { target: chosen = 'local' } = settings;
  if (targets?.every((target) => target !== chosen)) return `--target ${targets[0]}`;
  return needs === undefined || needs.met(settings) ? null : needs.give;
}

/** Typed flags that would change nothing. */
export function idleSettings(
  table: SettingTable,
  typed: Readonly<Record<string, unknown>>,
  settings: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries(table).flatMap(([name, setting]) => {
    const give = typed[name] === undefined ? null : idleReason(table, name, settings);
    return give === null ? [] : [`${flagName(setting)}: has no effect without ${give}; add that, or omit it`];
  });
}

/** Variables that would change nothing, and why. They are set for several commands, so that is no mistake. */
export function idleVariables(
  table: SettingTable,
  env: Readonly<Record<string, string | undefined>>,
  settings: Readonly<Record<string, unknown>>,
  command: string,
): string[] {
  const names = new Map(Object.keys(table).map((name) => [variableOf(name), name]));
  const given = Object.keys(env).filter(
    (variable) =>
      variable.startsWith(variableOf('')) && env[variable] !== '' && !OTHER_VARIABLES.includes(variable),
  );
  return given.flatMap((variable) => {
    const name = names.get(variable);
    if (name === undefined) return [`${variable} has no effect on ${command}`];
    const give = idleReason(table, name, settings);
    return give === null ? [] : [`${variable} has no effect without ${give}`];
  });
}

/** Every entry of a list that makes cases may occur once. */
export function repeatedEntries(table: SettingTable, settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).flatMap(([name, setting]) => {
    const values: unknown = settings[name];
    if (setting.distinct !== true || !Array.isArray(values)) return [];
    const identities = values.map((value) => setting.identityOf?.(value) ?? String(value));
    const repeated = identities.find((identity, index) => identities.indexOf(identity) < index);
    if (repeated === undefined) return [];
    return [
      `${flagName(setting)}: ${shownValue(setting, values)} names something twice ("${repeated}"); every entry is measured once, under a name of its own`,
    ];
  });
}

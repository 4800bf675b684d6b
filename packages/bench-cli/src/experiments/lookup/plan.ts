/** What a run of `bench lookup` measures: its settings checked together, before anything starts. */
import { isIP } from 'node:net';
import { configure } from '../../config/configuration.ts';
import type { KubernetesSettings } from '../../config/kubernetes-settings.ts';
import type { ExperimentPlan } from '../../engine/experiment.ts';
import { BenchError } from '../../errors.ts';
import { readIfThere } from '../../machine/proc-files.ts';
import type { Server } from '../../servers/server.ts';
import type { World } from '../../world.ts';
import { type Prediction, predict, SYN_LINEAR_TIMEOUTS } from './policy/modes.ts';
import { type LookupSettings, trialSeconds, urlOf } from './settings.ts';
import { baselineOf, type LookupSubject, paceOf, subjectsOf } from './subjects.ts';

export interface DecidedLookup {
  readonly url: URL;
  readonly subjects: readonly LookupSubject[];
  /** By subject; null if the run is no simulation. */
  readonly predictions: ReadonlyMap<string, Prediction | null>;
  /** Samples start this far apart or more. */
  readonly paceSeconds: number;
  /** The resolvers of --local. */
  readonly servers: readonly Server[];
  readonly kubernetes: KubernetesSettings;
}

function usage(message: string, fix: string): BenchError {
  return new BenchError('E_USAGE', message, { fix });
}

/** Preparing, and counting what was captured. */
const LOCAL_SPARE_SECONDS = 1;
/** Pods are created, and wait for the newest Service and for their capture. */
const POD_SPARE_SECONDS = 12;

/** @throws BenchError `E_USAGE` for what is no URL of a web page behind a name */
function parseTargetUrl(text: string): URL {
  const fix = 'Give a URL with a name, for example --url http://www.example.com.';
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw usage(`--url: "${text}" is not the URL of a web page`, fix);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) throw usage(`--url: ${host} is an address: there is no name to look up`, fix);
  if (host.replace(/^\*\./, '').includes('*')) {
    throw usage(
      `--url: a star stands for a whole label, the first one, not as in "${host}"`,
      'Give a URL of a wildcard record, for example http://*.example.com.',
    );
  }
  return url;
}

/** The port that a URL leads to. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function demandLocalUrl({ protocol, hostname }: URL): void {
  const fix = 'Give --url http://site.example.com.';
  if (hostname.includes('*')) {
    throw usage(
      '--url: the zone of --local has no wildcard; a simulated policy has a new address for each sample',
      fix,
    );
  }
  if (protocol === 'https:') throw usage('--url: the site of --local answers http only', fix);
  if (!hostname.includes('.') || hostname.endsWith('.localhost'))
    throw usage(`--url: "${hostname}" has no domain that a server could serve`, fix);
}

/** @throws BenchError `E_USAGE`, one for the first problem */
export function checkedUrl(settings: LookupSettings): URL {
  const { local, ipv6, simulatePolicy, client, duration, trials, podPerSample, pace } = settings;
  const url = parseTargetUrl(urlOf(settings));
  if (local) demandLocalUrl(url);
  if (local && ipv6 && simulatePolicy !== undefined) {
    throw usage(
      '--ipv6 and --simulate-policy exclude each other: the simulated agent knows IPv4 only',
      'Omit one.',
    );
  }
  if (podPerSample && pace !== undefined) {
    throw usage(
      '--pace and --pod-per-sample exclude each other: a pod that takes one sample has no pace',
      'Omit one.',
    );
  }
  if (url.protocol !== 'http:' && client.includes('builtin'))
    throw usage('--client: the built-in client knows no https', 'Give --client curl, or a URL with http.');
  if (duration < trials) {
    throw usage(
      `--duration: ${duration} s are too short for ${trials} trials of at least a second`,
      'Give a longer --duration or fewer --trials.',
    );
  }
  return url;
}

/** With the settings of other commands that the environment gives. */
export function kubernetesSettings(
  { env }: Pick<World, 'env'>,
  { nodes, context, pullPolicy, keep, image }: LookupSettings,
): KubernetesSettings {
  const flags = {
    ...(nodes === undefined ? {} : { loaderNode: nodes }),
    ...(context === undefined ? {} : { context }),
    ...(image === undefined ? {} : { loaderImage: image }),
    pullPolicy,
    keep,
  };
  return configure({ flags, env }).kubernetes;
}

/**
 * How many times the kernel repeats a SYN each second before it doubles the wait; 0 before Linux 6.5. The pod's network namespace is a
 * new one, which has the default, whatever this one was set to.
 */
async function synLinearTimeouts(world: World): Promise<number> {
  const text = await readIfThere(world, '/proc/sys/net/ipv4/tcp_syn_linear_timeouts');
  return text === null ? 0 : SYN_LINEAR_TIMEOUTS;
}

export async function planLookup(
  settings: LookupSettings,
  world: World,
): Promise<ExperimentPlan<DecidedLookup>> {
  const url = checkedUrl(settings);
  const { local, target, programDelay } = settings;
  const subjects = subjectsOf(settings);
  const timeouts = await synLinearTimeouts(world);
  const predictions = new Map(
    subjects.map(({ name, policy }) => [
      name,
      local && policy !== null ? predict(policy, programDelay, timeouts) : null,
    ]),
  );
  const paceSeconds = paceOf(settings, [...predictions.values()]);
  const { loadResolvers } = await import('./lab/resolvers.ts');
  const spare = target === 'kubernetes' ? POD_SPARE_SECONDS : LOCAL_SPARE_SECONDS;
  return {
    subjects: subjects.map(({ name, title }) => ({ name, title })),
    baseline: baselineOf(subjects),
    cases: subjects.map(({ name }) => ({
      key: name,
      subject: name,
      point: {},
      expectedSeconds: trialSeconds(settings) + spare,
    })),
    decided: {
      ...{ url, subjects, predictions, paceSeconds },
      servers: local ? await loadResolvers(world, settings) : [],
      kubernetes: kubernetesSettings(world, settings),
    },
  };
}

/** This machine, or two network namespaces of it, as the place of a run: names, programs, namespaces. */
import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measuring, Opened } from '../../engine/experiment.ts';
import { describeEnvironment } from '../../environment/describe.ts';
import { BenchError } from '../../errors.ts';
import { findDaemon, findExecutable } from '../../machine/find-executable.ts';
import { runToEnd } from '../../process.ts';
import type { World } from '../../world.ts';
import type { LookupEvidence } from './evidence.ts';
import { labPlace } from './lab-place.ts';
import { machinePlace } from './machine-place.ts';
import { checkUrl, demandCapture, type Local, measureTrial } from './measure.ts';
import { type LookupRequest, measuring } from './place.ts';
import { portOf } from './plan.ts';
import { BUILTIN_PROGRAM, builtinCommand } from './sampling/sampler.ts';
import { conditionsOfSettings, type LookupSettings } from './settings.ts';

async function versionOf(world: World, command: readonly string[]): Promise<string | null> {
  const { stdout, stderr } = await runToEnd(world, command);
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? null;
}

/** @throws BenchError `E_TOOL_MISSING` without curl, where curl is a client */
async function demandCurl(world: World, { client }: LookupSettings): Promise<string | null> {
  if (!client.includes('curl')) return null;
  const curl = await findExecutable(world, 'curl');
  if (curl !== null) return versionOf(world, [curl, '--version']);
  throw new BenchError('E_TOOL_MISSING', 'curl is not there', {
    fix: 'Install curl, or measure with the built-in client: --client builtin.',
  });
}

/** @throws BenchError `E_TOOL_MISSING` if the built-in client is asked for and cannot work here */
async function demandBuiltin(world: World, { client }: LookupSettings): Promise<void> {
  if (!client.includes('builtin')) return;
  const check = builtinCommand(world.processes.nodePath, fileURLToPath(BUILTIN_PROGRAM));
  const { code, stderr } = await runToEnd(world, check);
  if (code === 0) return;
  throw new BenchError('E_TOOL_MISSING', 'the built-in client does not work here', {
    evidence: stderr.split('\n').filter((line) => /^\w*Error\b/.test(line)),
    fix: 'Its error is above; it needs Linux and koffi. Measure with curl: --client curl.',
  });
}

/** Where to find tcpdump, or why there is no capture. */
async function findTcpdump(
  world: World,
  { capture }: LookupSettings,
): Promise<{ path: string } | { reason: string }> {
  if (!capture) return { reason: '--no-capture: duplicates and queries are not counted' };
  if (world.machine.userId !== 0)
    return { reason: 'without root there is no capture: duplicates and queries are not counted' };
  const path = await findDaemon(world, 'tcpdump');
  return path === null
    ? { reason: 'tcpdump is not there: duplicates and queries are not counted' }
    : { path };
}

const NO_TAP =
  '`ip route get` (iproute2) tells no interface of the page or of a name server: duplicates and queries are not counted';

/** @throws BenchError `E_NO_ANSWER` if the resolver of this machine knows no address of the name */
async function demandAddresses({ hostname }: URL): Promise<string[]> {
  try {
    const name = hostname.replace('*', () => randomUUID());
    return (await lookup(name, { all: true })).map(({ address }) => address);
  } catch (cause) {
    throw new BenchError('E_NO_ANSWER', `--url: this machine's resolver finds no address of ${hostname}`, {
      fix: 'Correct the name, or the resolver (/etc/resolv.conf). --local needs neither: it brings both.',
      cause,
    });
  }
}

/** @throws BenchError `E_NO_ANSWER`, within seconds, if a client cannot reach the page */
async function demandSamples(local: Local): Promise<void> {
  const { decided, settings, place } = local;
  const { subjects, url } = decided;
  for (const subject of subjects) {
    if (subjects.find(({ client }) => client === subject.client) !== subject) continue;
    const problem = await checkUrl(local, subject);
    if (problem === null) continue;
    const tried =
      place.addresses.length === 0 ? '' : `, tried ${place.addresses.join(', ')} port ${portOf(url)}`;
    throw new BenchError('E_NO_ANSWER', `${url.href} does not answer ${subject.client}${tried}: ${problem}`, {
      fix: settings.local
        ? 'This is the site that bench has started: its log, and those of the resolvers, say why.'
        : 'Give the URL of a page that this machine reaches; --local brings its own (as root).',
    });
  }
}

const SIMULATED =
  'SIMULATION: a program of bench played the policy agent with a programmed delay. The figures test the measurement; they say nothing about any product.';

function conditionsOf(
  settings: LookupSettings,
  paceSeconds: number,
  tools: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const { local, search = [], ndots } = settings;
  const known = Object.entries(tools).flatMap(([name, version]) =>
    version === null ? [] : [[name, version]],
  );
  return {
    ...conditionsOfSettings(settings),
    ...Object.fromEntries(known),
    ...(local ? { 'resolv.conf': `search ${search.join(' ') || '(none)'}, ndots:${ndots}` } : {}),
    ...(paceSeconds === 0 ? {} : { pace: `${paceSeconds} s` }),
  };
}

/** Everything that can be missing is reported before the first sample. */
export async function openLocal(request: LookupRequest): Promise<Opened<Measuring<LookupEvidence>>> {
  const { world, settings, decided, directory, signal } = request;
  const { url, paceSeconds } = decided;
  const addresses = settings.local ? [] : await demandAddresses(url);
  const curl = await demandCurl(world, settings);
  await demandBuiltin(world, settings);
  const tool = await findTcpdump(world, settings);
  const { place, programs, provisioned } = settings.local
    ? await labPlace(request)
    : { place: await machinePlace(world, addresses), programs: [], provisioned: [] };
  await using made = new AsyncDisposableStack();
  made.use(place);
  const found = 'path' in tool && place.taps.length === 0 ? { reason: NO_TAP } : tool;
  const tcpdump = 'path' in found ? found.path : null;
  const local: Local = {
    ...{ world, settings, decided, place, tcpdump, signal },
    rawDirectory: join(directory, 'raw'),
  };
  await demandSamples(local);
  await demandCapture(local);
  const tools = { curl, tcpdump: tcpdump === null ? null : await versionOf(world, [tcpdump, '--version']) };
  const environment = await describeEnvironment(world);
  const closing = made.move();
  return {
    context: measuring(request, (subject, planned, seconds) =>
      measureTrial(local, subject, `${planned.order}-${planned.key}`, seconds),
    ),
    ...{ environment, programs, provisioned },
    conditions: conditionsOf(settings, paceSeconds, tools),
    warnings: [
      ...(settings.simulatePolicy === undefined ? [] : [SIMULATED]),
      ...('reason' in found ? [`${found.reason}.`] : []),
    ],
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

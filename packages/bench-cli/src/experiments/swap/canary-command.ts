/** `bench swap canary`: what a client of the cluster's DNS sees for a while, for example during an ordinary rolling update. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import { openChangeable } from '../../cluster-changes/connected-api.ts';
import type { SettingsOf } from '../../config/setting.ts';
import { type Interruption, listenForInterruption } from '../../interruption.ts';
import { createDisplay } from '../../progress/display.ts';
import { newRunId } from '../../results/run-id.ts';
import { choiceOf, type DnsWorkload, findWorkload } from '../../targets/kubernetes/dns-copy/find-workload.ts';
import type { World } from '../../world.ts';
import type { CanaryFigures } from './evidence.ts';
import { openCanary } from './in-place/canary.ts';
import { CANARY_RATE, lostOf } from './in-place/canary-count.ts';
import { openRun } from './open-run.ts';
import type { PLACE_SETTINGS, SwapSettings } from './settings.ts';

/** Starting its pod, and waiting for the last answers. */
const SPARE_SECONDS = 60;

type CanarySettings = SettingsOf<typeof PLACE_SETTINGS> & Pick<SwapSettings, 'duration'>;

interface Seen {
  readonly node: string;
  readonly count: CanaryFigures;
}

async function watch(
  world: World,
  settings: CanarySettings,
  { service }: DnsWorkload,
  { signal, force }: Interruption,
  say: (text: string) => void,
): Promise<Seen> {
  const { duration } = settings;
  const runId = newRunId(world.clock.now());
  const needs = { loadSeconds: duration, serverCores: 0 };
  await using open = new AsyncDisposableStack();
  const { run, close } = await openRun({ world, runId, settings, signal, force }, needs);
  open.defer(close);
  const { name, address } = service;
  const canary = await openCanary(run, {
    ...{ address, signal, until: signal },
    runSeconds: duration + SPARE_SECONDS,
  });
  open.defer(canary.stop);
  canary.take();
  say(`asking Service ${name} ${CANARY_RATE} times a second for ${duration} s`);
  await world.clock.sleep(duration, signal);
  return { node: canary.node, count: await canary.takeSettled(signal) };
}

function canaryText({ service, title }: DnsWorkload, { node, count }: Seen): string {
  const { longestLossSeconds } = count;
  const inRow = longestLossSeconds > 0 ? `, ${longestLossSeconds} s in a row at most` : '';
  return `${title} through Service ${service.name} (${service.address}), asked from node ${node}: lost ${lostOf(count)} queries in ${count.seconds} s${inRow}\n`;
}

/** Changes nothing. */
export async function canaryCommand(world: World, settings: CanarySettings, json: boolean): Promise<number> {
  const display = createDisplay(world.stderr);
  const say = (text: string) => display.line(text);
  const interruption = listenForInterruption(world, say, {
    first: 'removing the canary; once more not to wait for it',
    again: 'not waiting; Kubernetes goes on removing it',
  });
  try {
    const { client } = await openChangeable(world, settings.context, interruption.force);
    const workload = await findWorkload(client, choiceOf(settings), interruption.signal);
    const seen = await watch(world, settings, workload, interruption, say);
    const { title, service } = workload;
    const { node, count } = seen;
    const text = JSON.stringify({ workload: title, service: service.name, node, ...count }, null, 2);
    world.stdout.write(json ? `${text}\n` : canaryText(workload, seen));
    return EXIT_STATUS.success;
  } finally {
    interruption.release();
    display.clear();
  }
}

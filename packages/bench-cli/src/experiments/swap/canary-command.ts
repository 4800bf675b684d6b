/** `bench swap canary`: what a client of the cluster's DNS sees for a while, for example during an ordinary rolling update. */
import { EXIT_STATUS } from '@dinodns-bench/program';
import type { World } from '../../world.ts';
import { lostOf } from './canary-words.ts';
import { choiceOf, secondsOf } from './flags.ts';
import { openCanary } from './in-place/canary.ts';
import { CANARY_RATE, type CanaryCount } from './in-place/canary-count.ts';
import { type DnsWorkload, findWorkload, type WorkloadChoice } from './in-place/find-workload.ts';
import { openRun } from './open-run.ts';
import { runSwap, type SwapCall, type Values } from './run-swap.ts';

/** Starting its pod, and waiting for the last answers. */
const SPARE_SECONDS = 60;

interface CanarySettings {
  readonly choice: WorkloadChoice;
  readonly seconds: number;
}

async function watch(call: SwapCall<CanarySettings>, { service }: DnsWorkload): Promise<CanaryCount> {
  const { settings, interruption, say, world } = call;
  const { seconds } = settings;
  const { signal } = interruption;
  const { address } = service;
  const { run, close } = await openRun(call, { loadSeconds: seconds, serverCores: 0 });
  try {
    const runSeconds = seconds + SPARE_SECONDS;
    const canary = await openCanary(run, { address, runSeconds, signal, until: signal });
    try {
      canary.take();
      say(`asking Service ${service.name} ${CANARY_RATE} times a second for ${seconds} s`);
      await world.clock.sleep(seconds, signal);
      return await canary.takeSettled(signal);
    } finally {
      await canary.stop();
    }
  } finally {
    await close();
  }
}

function canaryText({ service, title }: DnsWorkload, count: CanaryCount): string {
  const { longestLossSeconds } = count;
  const inRow = longestLossSeconds > 0 ? `, ${longestLossSeconds} s in a row at most` : '';
  return `${title} through Service ${service.name} (${service.address}): lost ${lostOf(count)} queries in ${count.seconds} s${inRow}\n`;
}

/** Changes nothing. */
export async function canaryCommand(world: World, values: Values, argv: readonly string[]): Promise<number> {
  const settings = { choice: choiceOf(values), seconds: secondsOf(values, 'duration', 1) };
  return runSwap({ world, values, argv, settings }, async (call) => {
    const workload = await findWorkload(call.cluster.client, settings.choice, call.interruption.signal);
    const count = await watch(call, workload);
    const { title, service } = workload;
    const json = JSON.stringify({ workload: title, service: service.name, ...count }, null, 2);
    world.stdout.write(values.json === true ? `${json}\n` : canaryText(workload, count));
    return EXIT_STATUS.success;
  });
}

/** What trials on either target have: a load with a fault in it, and what clients lost. */
import type { Opened, OpenRequest, PlannedTrial, Point, TrialEvents } from '../../engine/experiment.ts';
import { clientLosses } from '../../measure/client-losses.ts';
import { type LoadWithEvent, loadWithEvent } from '../../measure/load-with-event.ts';
import { mergeLoads } from '../../measure/merge-loads.ts';
import type { DisruptEvidence } from './evidence.ts';
import { type CONTROL, FAULT_SECONDS, type FaultName } from './faults.ts';
import type { DisruptSettings } from './settings.ts';

export interface DisruptContext {
  measure(planned: PlannedTrial, on: TrialEvents): Promise<DisruptEvidence>;
}

/** As many sockets as queries, as of programs that open one for each; null for few that are used again and again. */
export function freshSockets({ rate, duration }: DisruptSettings, { sockets }: Point): number | null {
  return sockets === 'fresh' ? Math.ceil(rate * duration) : null;
}

/** On either target: what it decided is for its own opening only. */
export interface Decided {
  open(request: Omit<OpenRequest<DisruptSettings, unknown>, 'decided'>): Promise<Opened<DisruptContext>>;
}

interface FaultInLoad extends Pick<LoadWithEvent, 'clock' | 'on' | 'signal' | 'load' | 'act'> {
  readonly settings: DisruptSettings;
  readonly fault: FaultName | typeof CONTROL;
  /** Response codes that the names predict. Null: all. */
  readonly expected: ReadonlySet<string> | null;
  /** Resident memory of the servers: of all together now, and the peak of one since its start; null where it cannot be read. */
  memoryNow(): Promise<{ readonly bytes: number; readonly peakBytes: number } | null>;
}

interface Measured {
  readonly evidence: ReturnType<typeof clientLosses> & Pick<DisruptEvidence, 'limited' | 'memory' | 'stale'>;
  /** By the clock that was given. */
  readonly faultSeconds: number;
}

export async function measureFault({
  settings,
  fault,
  expected,
  memoryNow,
  ...load
}: FaultInLoad): Promise<Measured> {
  const before = await memoryNow();
  const loaded = await loadWithEvent({ ...load, event: fault, afterSeconds: FAULT_SECONDS });
  const after = await memoryNow();
  const { timeline, sockets, event, limited } = loaded;
  const losses = clientLosses({
    ...{ timeline, sockets, fault: event, expected },
    load: mergeLoads(loaded.outcomes.map(({ result }) => result)),
    durationSeconds: settings.duration,
    timeoutSeconds: settings.timeout,
  });
  const memory =
    before === null || after === null
      ? null
      : { before: before.bytes, after: after.bytes, peak: after.peakBytes };
  const stale = loaded.outcomes.flatMap((outcome) => outcome.stale ?? []);
  return {
    evidence: {
      ...{ ...losses, limited, memory },
      ...(stale.length === 0 ? {} : { stale: stale.reduce((sum, count) => sum + count, 0) }),
    },
    faultSeconds: event.begin + loaded.startSeconds,
  };
}

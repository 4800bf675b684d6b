/** Several loaders at once: they wait for each other at a gate and start at one instant. */
import type { GateAddress } from '@dinodns-bench/load';
import { z } from 'zod';
import { parseLine } from '../../process.ts';

/** When a loader sent queries, in seconds since the gate let all of them go. */
export interface LoadWindow {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** The clock of a loader's machine, beside that of the gate. No figure of the run uses it: all times are the gate's. */
export interface GateClock {
  /** Seconds that it is ahead; wrong by half of the round trip at most. */
  readonly offsetSeconds: number;
  /** Of the quickest of some messages to the loader and back; the one that let it go may have taken longer. */
  readonly roundTripSeconds: number;
}

/** What the gate noted of a loader; a moment that the loader did not report is missing. */
export interface GateTimes {
  readonly clock?: GateClock;
  readonly started?: number;
  readonly ended?: number;
}

export interface Gate {
  readonly address: string;
  readonly port: number;
  /** By the loader's number, when all have ended. Never rejects. */
  readonly times: Promise<ReadonlyMap<number, GateTimes>>;
  /** Ends the gate. Safe to call twice. */
  close(): Promise<void>;
}

const eventSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('listening'), address: z.string(), port: z.number() }),
  z.object({ event: z.literal('go') }),
  z.object({
    event: z.literal('clock'),
    loader: z.number(),
    offsetSeconds: z.number(),
    roundTripSeconds: z.number(),
  }),
  z.object({ event: z.enum(['started', 'ended']), loader: z.number(), atSeconds: z.number() }),
]);

/** An event that the gate's program printed; null for any other line. */
export const parseGateEvent = (line: string) => parseLine(eventSchema, line);

/** Collects what the gate says. */
export class GateLog {
  readonly #listening = Promise.withResolvers<{ address: string; port: number }>();
  readonly times = new Map<number, GateTimes>();

  /** Resolves once loaders can connect; rejects with the reason of `fail`. */
  get listening(): Promise<{ address: string; port: number }> {
    return this.#listening.promise;
  }

  hear(line: string): void {
    const event = parseGateEvent(line);
    if (event?.event === 'listening') this.#listening.resolve(event);
    if (event?.event === 'clock') {
      const { offsetSeconds, roundTripSeconds } = event;
      this.times.set(event.loader, { clock: { offsetSeconds, roundTripSeconds } });
    }
    if (event?.event !== 'started' && event?.event !== 'ended') return;
    this.times.set(event.loader, { ...this.times.get(event.loader), [event.event]: event.atSeconds });
  }

  fail(reason: unknown): void {
    this.#listening.promise.catch(() => undefined);
    this.#listening.reject(reason);
  }
}

/** Not from its end: a loader waits for lost answers, possibly for seconds, and that time is not part of its own run time. */
export function windowOf({ started }: GateTimes, runTimeSeconds: number): LoadWindow | null {
  return started === undefined ? null : { startSeconds: started, endSeconds: started + runTimeSeconds };
}

/**
 * The share of the duration in which all loaders were sending. 1 or nearly so if they started together and none ended
 * early; their sum is a load that really existed only then.
 */
export function overlapOf(windows: readonly LoadWindow[], durationSeconds: number): number {
  const start = Math.max(...windows.map(({ startSeconds }) => startSeconds));
  const end = Math.min(...windows.map(({ endSeconds }) => endSeconds));
  return Math.min(1, Math.max(0, (end - start) / durationSeconds));
}

/** Not the shell of POSIX: only bash connects, and tells the time (since version 5). The exit status of a gate that fails is 97, which dnsperf does not use. */
const SCRIPT =
  'exec 3<>"/dev/tcp/$1/$2" || exit 97; echo "ready $3" >&3; while read -r word <&3 && [ "$word" = time ]; do echo "time $3 $EPOCHREALTIME" >&3; done; [ "$word" = go ] || exit 97; index=$3; shift 3; echo "started $index" >&3; "$@" 3>&-; status=$?; echo "ended $index" >&3; exit $status';

/** A command that waits at the gate before it begins, and says when it has begun and ended. */
export function behindGate(gate: GateAddress | undefined, command: readonly string[]): readonly string[] {
  if (gate === undefined) return command;
  return ['bash', '-c', SCRIPT, 'gate', gate.address, String(gate.port), String(gate.index), ...command];
}

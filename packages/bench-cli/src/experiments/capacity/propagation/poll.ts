/** Asks for a Service until it resolves. */
import type { AnnouncedService } from '@dinodns-bench/cluster-objects';
import { type DecodedAnswer, type DnsClient, DnsQueryError } from '../../../dns/client.ts';
import type { Clock } from '../../../world.ts';

export interface Polling {
  readonly client: DnsClient;
  readonly clock: Clock;
  /** Between two queries, whether they are answered or not. */
  readonly intervalSeconds: number;
  /** On the monotonic clock. */
  readonly deadline: number;
  readonly signal: AbortSignal;
}

/** Moments on the monotonic clock. */
export interface Polled {
  /** When the first right answer came; null if none did. */
  readonly answeredAt: number | null;
  /** When the last query was sent that was answered otherwise; null if none was. */
  readonly lastWrongSentAt: number | null;
  readonly queries: number;
}

/** A query without an answer after this time is forgotten. */
const TIMEOUT_SECONDS = 1;

/** Timers are whole milliseconds, and may be one late: what is shorter is slept in naps, between which answers are read. */
const TIMER_SECONDS = 0.002;
const NAP_SECONDS = 0.0001;

function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  return seconds > TIMER_SECONDS
    ? clock.sleep(seconds - TIMER_SECONDS / 2, signal)
    : clock.nap(Math.min(seconds, NAP_SECONDS));
}

function isRight({ responseCode, answers }: DecodedAnswer, address: string): boolean {
  const [only] = answers;
  return responseCode === 'NOERROR' && answers.length === 1 && only?.type === 'A' && only.data === address;
}

type Progress = { -readonly [K in keyof Polled]: Polled[K] } & {
  failure: { readonly error: unknown } | null;
};

async function askOnce(
  { name, address }: AnnouncedService,
  { client, clock }: Polling,
  progress: Progress,
): Promise<void> {
  const sentAt = clock.monotonicSeconds();
  progress.queries += 1;
  try {
    const answer = await client.ask({ name, type: 'A' }, { timeoutSeconds: TIMEOUT_SECONDS });
    if (isRight(answer, address)) progress.answeredAt ??= clock.monotonicSeconds();
    else progress.lastWrongSentAt = Math.max(progress.lastWrongSentAt ?? sentAt, sentAt);
  } catch (error) {
    if (!(error instanceof DnsQueryError)) progress.failure ??= { error };
  }
}

/** Rejects with the signal's reason, and with what is no matter of DNS. */
export async function pollUntilRight(service: AnnouncedService, polling: Polling): Promise<Polled> {
  const { clock, intervalSeconds, deadline, signal } = polling;
  const progress: Progress = { answeredAt: null, lastWrongSentAt: null, queries: 0, failure: null };
  let next = clock.monotonicSeconds();
  for (;;) {
    signal.throwIfAborted();
    const now = clock.monotonicSeconds();
    if (progress.failure !== null) throw progress.failure.error;
    if (progress.answeredAt !== null || now >= deadline) return progress;
    if (now >= next) {
      askOnce(service, polling, progress);
      next = Math.max(next + intervalSeconds, now);
    }
    await pause(clock, next - clock.monotonicSeconds(), signal);
  }
}

/** Trials side by side, as many as may be. */
import type { ExperimentPlan, PlannedCase } from './experiment.ts';

interface Lanes<T, R> extends Pick<ExperimentPlan<unknown>, 'lanes' | 'fits'> {
  /** What takes a lane. */
  casesOf(planned: T): readonly PlannedCase[];
  /** Nothing begins once it is aborted. */
  readonly signal: AbortSignal;
  take(planned: T): Promise<R>;
  /** One at a time, while others go on. */
  onEnd(planned: T, result: R): Promise<void>;
}

/**
 * Takes all, the first that fits next. Rejects with the first error, after those under way have ended: results of theirs
 * are not lost.
 */
export async function inLanes<T, R>(
  planned: readonly T[],
  { lanes = 1, fits = () => true, signal, casesOf, take, onEnd }: Lanes<T, R>,
): Promise<void> {
  const waiting = [...planned];
  const running = new Map<T, Promise<() => Promise<void>>>();
  const failures: unknown[] = [];
  const next = () =>
    running.size >= lanes || failures.length > 0 || signal.aborted
      ? undefined
      : waiting.find((each) => running.size === 0 || fits([...running.keys(), each].flatMap(casesOf)));
  const ended = (each: T) =>
    take(each).then(
      (result) => async () => {
        running.delete(each);
        await onEnd(each, result);
      },
      (error: unknown) => async () => {
        running.delete(each);
        failures.push(error);
      },
    );
  for (;;) {
    const each = next();
    if (each !== undefined) {
      waiting.splice(waiting.indexOf(each), 1);
      running.set(each, ended(each));
    } else if (running.size > 0) {
      const settle = await Promise.race(running.values());
      await settle().catch((error: unknown) => failures.push(error));
    } else break;
  }
  if (failures.length > 0) throw failures[0];
  signal.throwIfAborted();
}

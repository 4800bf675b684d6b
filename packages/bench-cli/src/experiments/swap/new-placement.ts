/** The record of a placement that has just begun. Pure. */
import type { SwapPlacement } from './record.ts';

/** Nothing is measured yet; it ends when it began until more is known. */
export function newPlacement(
  begun: Pick<SwapPlacement, 'number' | 'side' | 'image' | 'startedAt'>,
): SwapPlacement {
  return {
    ...begun,
    endedAt: begun.startedAt,
    rolloutSeconds: null,
    rolloutCanary: null,
    canary: null,
    pods: [],
    phases: [],
    failure: null,
  };
}

/** The loads of propagation, in records and for people. Pure. */
import { formatCount, formatShort } from '../../../report/numbers.ts';

export interface Load {
  /** Pods and services that CoreDNS has read. */
  readonly objects: number;
  /** Services created and deleted a second, together, besides those that are measured. */
  readonly churn: number;
}

/** Name of a subject: `158200/churn=10`. */
export const loadName = ({ objects, churn }: Load) => `${objects}/churn=${churn}`;

export function loadOf(subject: string): Load {
  const [objects, churn] = subject.split('/churn=').map(Number);
  return { objects: objects ?? 0, churn: churn ?? 0 };
}

export const objectsText = (objects: number) => `${formatCount(objects)} objects`;

/** `10 changes/s`, `0.5 changes/s` */
export const changesText = (perSecond: number) =>
  `${Number.isInteger(perSecond) ? formatCount(perSecond) : formatShort(perSecond)} changes/s`;

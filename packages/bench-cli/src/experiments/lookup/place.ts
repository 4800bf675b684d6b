/** Where the samples of a run are taken: this machine as it is, or the laboratory. */
import type { Measuring, OpenRequest, PlannedTrial } from '../../engine/experiment.ts';
import type { LookupEvidence } from './evidence.ts';
import type { DecidedLookup } from './plan.ts';
import { type LookupSettings, trialSeconds } from './settings.ts';
import type { LookupSubject } from './subjects.ts';

export type LookupRequest = OpenRequest<LookupSettings, DecidedLookup>;

/** Takes the samples of a trial, wherever that is done. */
export type Measure = (
  subject: LookupSubject,
  planned: PlannedTrial,
  seconds: number,
) => Promise<LookupEvidence>;

export function measuring({ decided, settings }: LookupRequest, measure: Measure): Measuring<LookupEvidence> {
  return {
    async measure(planned, on) {
      const name = planned.case.subject;
      const subject = decided.subjects.find((each) => each.name === name);
      if (subject === undefined) throw new Error(`no subject ${name}`);
      on.phase('taking samples');
      return measure(subject, planned, trialSeconds(settings));
    },
  };
}

/** An interface on which packets of the samples are seen, each once. */
export interface Tap {
  readonly interface: string;
  /** Whether it leads to a name server of the samples: elsewhere, a query is that of somebody else, or the same once more. */
  readonly seesQueries: boolean;
  /** Puts a command into the network namespace of the interface. */
  readonly enter: (command: readonly string[]) => readonly string[];
}

/** It is closed with everything in it. */
export interface Place extends AsyncDisposable {
  /** In records: `pod`, `this machine`. */
  readonly name: string;
  /** Puts a command where names are looked up. */
  enter(command: readonly string[]): readonly string[];
  /** Of the site, as far as they are known. */
  readonly addresses: readonly string[];
  readonly taps: readonly Tap[];
  /** Whether the kernel's counters are about the samples alone. */
  readonly scope: 'namespace' | 'machine';
  /** SYN-ACK packets that the site's kernel repeated so far; null where nobody can ask it. */
  siteRepeats(): Promise<number | null>;
  /** Makes it ready for the samples of a subject; what it resolves with undoes that. */
  prepare(subject: LookupSubject): Promise<AsyncDisposable>;
}

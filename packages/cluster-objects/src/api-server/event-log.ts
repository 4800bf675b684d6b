/** The latest changes, from which every watch is served: watchers hold a position here and no queue of their own. */
import type { KubeObject } from '../kubernetes/object.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export interface ChangeEvent {
  readonly type: ChangeType;
  /** The name of the resource: `services`. */
  readonly resource: string;
  readonly resourceVersion: number;
  readonly object: KubeObject;
}

/** As many as 100 changes a second make in a minute and a half; an object has about 2 kB. */
const KEPT_EVENTS = 10_000;

export class EventLog {
  /** Changes up to this version are not known any more. */
  #forgottenUpTo: number;
  #events: ChangeEvent[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(resourceVersion: number) {
    this.#forgottenUpTo = resourceVersion;
  }

  append(event: ChangeEvent): void {
    this.#events.push(event);
    if (this.#events.length >= 2 * KEPT_EVENTS) this.#forget(this.#events.length - KEPT_EVENTS);
    this.#wake();
  }

  /** Forgets everything: whoever does not know the latest version must list again. */
  forgetAll(resourceVersion: number): void {
    this.#events = [];
    this.#forgottenUpTo = resourceVersion;
    this.#wake();
  }

  #forget(count: number): void {
    this.#forgottenUpTo = this.#events[count - 1]?.resourceVersion ?? this.#forgottenUpTo;
    this.#events = this.#events.slice(count);
  }

  /** The events after a version; null if some of them are forgotten (410 Gone). */
  after(resourceVersion: number): readonly ChangeEvent[] | null {
    if (resourceVersion < this.#forgottenUpTo) return null;
    const last = this.#events.at(-1);
    if (last === undefined || last.resourceVersion <= resourceVersion) return [];
    // Nearly always only the latest ones are new.
    let from = this.#events.length;
    while ((this.#events[from - 1]?.resourceVersion ?? 0) > resourceVersion) from--;
    return this.#events.slice(from);
  }

  /** Resolves with true at the next change, with false after `milliseconds` or when `signal` is aborted. */
  next(signal: AbortSignal, milliseconds: number): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isChange: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(onChange);
        signal.removeEventListener('abort', onEnd);
        resolve(isChange);
      };
      const onChange = () => end(true);
      const onEnd = () => end(false);
      const timer = setTimeout(onEnd, milliseconds);
      this.#waiting.add(onChange);
      signal.addEventListener('abort', onEnd);
    });
  }

  #wake(): void {
    for (const onChange of this.#waiting) onChange();
  }
}

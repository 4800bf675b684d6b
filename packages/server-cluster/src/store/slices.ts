import { setImmediate as nextTurn } from 'node:timers/promises';

/** Reading the clock takes as long as a short step. */
const STEPS_PER_LOOK = 8;

const SLICE_SECONDS = 0.001;

/** Long work in slices, between which queries are answered. */
export class Slices {
  #steps = 0;
  readonly #milliseconds: number;
  #end: number;

  /** `seconds`: the longest that queries wait for, if each step is short. */
  constructor(seconds = SLICE_SECONDS) {
    this.#milliseconds = seconds * 1000;
    this.#end = performance.now() + this.#milliseconds;
  }

  /** Whether it is time to pause. Asked after each step. */
  get isOver(): boolean {
    return ++this.#steps % STEPS_PER_LOOK === 0 && performance.now() >= this.#end;
  }

  /** Gives the event loop a turn. */
  readonly pause = async (): Promise<void> => {
    await nextTurn();
    this.#end = performance.now() + this.#milliseconds;
  };
}

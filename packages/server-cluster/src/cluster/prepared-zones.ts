/** The zones that a worker has loaded, or is loading, and does not serve yet. */

export class PreparedZones {
  readonly #loading = new Set<number>();
  /** What switches to the zones of an attempt. */
  readonly #loaded = new Map<number, () => void>();
  #generation = 0;

  /** Rejects as `load` does. `attempt` is used only once. */
  async prepare(attempt: number, load: () => Promise<() => void>): Promise<void> {
    this.#loading.add(attempt);
    try {
      const swap = await load();
      // Aborted meanwhile: these zones must not be served, whatever was decided since.
      if (this.#loading.has(attempt)) this.#loaded.set(attempt, swap);
    } finally {
      this.#loading.delete(attempt);
    }
  }

  /** Discards the zones of this attempt, if there are any, also while they are being loaded. */
  abort(attempt: number): void {
    this.#loading.delete(attempt);
    this.#loaded.delete(attempt);
  }

  /**
   * Switches to the zones of this attempt, unless later ones are served: two reloads overlap in a worker that started during
   * the first. Throws if there are none.
   */
  commit(attempt: number, generation: number): void {
    const swap = this.#loaded.get(attempt);
    this.#loaded.delete(attempt);
    if (swap === undefined) throw new Error(`Attempt ${attempt} has no zones to switch to.`);
    if (generation < this.#generation) return;
    this.#generation = generation;
    swap();
  }
}

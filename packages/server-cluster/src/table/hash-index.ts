/**
 * Finds ids by a 32-bit hash: open addressing with linear probing in one Int32Array, eight bytes a slot. The
 * caller compares what the ids stand for. Reading it is two array accesses, so readers do that themselves:
 *
 *     for (let slot = hash & index.mask; (id = slots[2 * slot + 1]) !== 0; slot = (slot + 1) & index.mask)
 *       if (slots[2 * slot] === hash && …) return id;
 */

const INITIAL_SLOTS = 64;
/**
 * When the share of used slots exceeds this, the number of slots doubles: a miss examines three slots on average.
 */
const MAX_LOAD = 0.625;

export class HashIndex {
  /** Pairs of hash and id; id 0 is a free slot. Replaced when the index grows. */
  slots = new Int32Array(INITIAL_SLOTS * 2);
  mask = INITIAL_SLOTS - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Bytes of all slots. */
  get byteLength(): number {
    return this.slots.byteLength;
  }

  /** Returns the memory, without waiting for the collector. The index must not be used afterwards. */
  free(): void {
    this.slots.buffer.transfer(0);
  }

  /** All slots, as `restore` takes them; valid until the next change. */
  parts(): Int32Array[] {
    return [this.slots, Int32Array.of(this.#size)];
  }

  restore(slots: Int32Array<ArrayBuffer>, [size = 0]: Int32Array): void {
    this.slots = slots;
    this.mask = slots.length / 2 - 1;
    this.#size = size;
  }

  /** Makes room for `size` ids in total. */
  reserve(size: number): void {
    let slots = this.mask + 1;
    while (size > slots * MAX_LOAD) slots *= 2;
    if (slots > this.mask + 1) this.#resize(slots);
  }

  /** `id` is positive and not in the index. */
  add(hash: number, id: number): void {
    this.reserve(this.#size + 1);
    this.#size++;
    this.#put(hash, id);
  }

  remove(hash: number, id: number): void {
    const { slots, mask } = this;
    let hole = hash & mask;
    while (slots[2 * hole + 1] !== id) {
      if (slots[2 * hole + 1] === 0) return;
      hole = (hole + 1) & mask;
    }
    this.#size--;
    // Entries after the hole move into it, unless that would put them before their own slot (Knuth, 6.4 R).
    for (let slot = (hole + 1) & mask; slots[2 * slot + 1] !== 0; slot = (slot + 1) & mask) {
      const home = (slots[2 * slot] ?? 0) & mask;
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
      slots[2 * hole] = slots[2 * slot] ?? 0;
      slots[2 * hole + 1] = slots[2 * slot + 1] ?? 0;
      hole = slot;
    }
    slots[2 * hole] = 0;
    slots[2 * hole + 1] = 0;
  }

  #put(hash: number, id: number): void {
    const { slots, mask } = this;
    let slot = hash & mask;
    while (slots[2 * slot + 1] !== 0) slot = (slot + 1) & mask;
    slots[2 * slot] = hash;
    slots[2 * slot + 1] = id;
  }

  #resize(count: number): void {
    const old = this.slots;
    this.slots = new Int32Array(count * 2);
    this.mask = count - 1;
    for (let at = 0; at < old.length; at += 2) {
      const id = old[at + 1] ?? 0;
      if (id !== 0) this.#put(old[at] ?? 0, id);
    }
    // The collector is slow to notice large buffers.
    old.buffer.transfer(0);
  }
}

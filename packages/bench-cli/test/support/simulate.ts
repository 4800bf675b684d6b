/** Simulated measurements whose truth is known, the same in every run of the tests. */
import { seededRandom } from '../../src/stats/random.ts';

export interface Noise {
  normal(): number;
  /** Student's t with 3 degrees of freedom: heavy tails. */
  heavy(): number;
  /** Exponential, centred: skewed. */
  skewed(): number;
  /** One trial in ten is disturbed, and always to the slow side. */
  disturbed(): number;
}

export function noise(seed: string): Noise {
  const random = seededRandom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return {
    normal,
    heavy: () => {
      const squares = Array.from({ length: 3 }, normal).reduce((sum, z) => sum + z * z, 0);
      return normal() / Math.sqrt(squares / 3);
    },
    skewed: () => -Math.log(1 - random()) - 1,
    disturbed: () => (random() < 0.1 ? normal() - 6 : normal()),
  };
}

/** Share of `runs` in which `holds`. */
export function shareOf(runs: number, holds: () => boolean): number {
  let hits = 0;
  for (let run = 0; run < runs; run++) if (holds()) hits++;
  return hits / runs;
}

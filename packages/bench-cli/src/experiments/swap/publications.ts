/** Published results that stand beside swaps, and beside comparisons of versions. */
import { swapMapping } from '../../history/reproduce/mappings.ts';
import type { Publication } from '../../history/reproduce/publication.ts';
import { ratioPublication } from '../../history/reproduce/ratios.ts';

export const swapPublications: readonly Publication[] = [
  ratioPublication({
    name: 'swap',
    mapping: swapMapping,
    experiments: ['swap', 'compare'],
    commands: 'bench swap or bench run',
    example:
      'bench run --servers coredns@1.11.3,coredns@1.13.1 --workload internal,external --rate 2000, or bench swap',
  }),
];

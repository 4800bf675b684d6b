/** Published results that stand beside comparisons of servers. */
import { blogMapping } from '../../history/reproduce/mappings.ts';
import type { Publication } from '../../history/reproduce/publication.ts';
import { ratioPublication } from '../../history/reproduce/ratios.ts';

export const comparePublications: readonly Publication[] = [
  ratioPublication({
    name: 'blog',
    mapping: blogMapping,
    experiments: ['compare'],
    commands: 'bench run or bench matrix',
    example: 'bench matrix --servers coredns,dinodns-stock --baseline coredns',
  }),
];

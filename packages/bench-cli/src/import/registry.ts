/** The formats that can be imported. To add one, add a file in this folder and a line here. */
import { dnsperfImporter } from './dnsperf.ts';
import { dnspyreImporter } from './dnspyre.ts';
import { flamethrowerImporter } from './flamethrower.ts';
import type { Importer } from './format.ts';
import { perfTestsImporter } from './perf-tests.ts';
import { tigerBenchImporter } from './tiger-bench.ts';

export const IMPORTERS: readonly Importer[] = [
  dnsperfImporter,
  perfTestsImporter,
  tigerBenchImporter,
  flamethrowerImporter,
  dnspyreImporter,
];

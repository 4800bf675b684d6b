/** `bench report`: renders a run again from its record. */
import { relative } from 'node:path';
import { nearest } from '@dinodns-bench/zones/nearest';
import { BenchError } from '../errors.ts';
import { findRenderer, renderers } from '../report/index.ts';
import { createStore } from '../results/store.ts';
import type { World } from '../world.ts';
import { renderOptions, writeReports } from './finish-run.ts';

export interface ReportOptions {
  /** Id, folder, file, or `latest`. */
  readonly run: string;
  readonly delta: string | undefined;
  readonly format: string | undefined;
  readonly out: string;
}

function deltaOf(delta: string | undefined): 'relative' | 'symmetric' | undefined {
  if (delta === undefined || delta === 'relative' || delta === 'symmetric') return delta;
  throw new BenchError('E_USAGE', `--delta: "${delta}" must be relative or symmetric`, {
    fix: 'relative: (value − baseline) ÷ baseline; symmetric: ÷ the mean of both, as in the published tables.',
  });
}

/**
 * Without `format` the reports beside the record are written again and the table is shown; with it, that
 * one format goes to stdout and nothing is written.
 */
export async function reportCommand(world: World, options: ReportOptions): Promise<number> {
  const delta = deltaOf(options.delta);
  const names = renderers.map(({ name }) => name);
  const wanted = options.format === 'md' ? 'markdown' : options.format;
  if (wanted !== undefined && findRenderer(wanted) === undefined) {
    const suggestion = nearest(wanted, names);
    throw new BenchError('E_USAGE', `--format: there is no format "${wanted}"`, {
      fix: suggestion === undefined ? `Choose from ${names.join(', ')}.` : `Did you mean "${suggestion}"?`,
    });
  }
  const store = createStore(world, options.out);
  const { record, directory } = await store.load(options.run);
  const render = renderOptions(world, record, delta);
  world.stdout.write(findRenderer(wanted ?? 'terminal')?.render(record, render) ?? '');
  if (wanted === undefined) {
    const paths = await writeReports(store, directory, record, render);
    world.stderr.write(`\nWritten: ${paths.map((path) => relative(world.cwd, path) || path).join(', ')}\n`);
  }
  return 0;
}

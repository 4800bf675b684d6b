/** The commands that print: a Corefile, queries with their answers, and objects. */

import { given, type ProgramWorld, suggestion, writeOut } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { type CorefileOptions, renderCorefile } from '../corefile.ts';
import { ClusterError } from '../errors.ts';
import { RESOURCES } from '../kubernetes/resources.ts';
import { externalQuestions } from '../names/external.ts';
import { internalQuestions } from '../names/mix.ts';
import type { Question } from '../names/question.ts';
import {
  addClusterFlags,
  addExternalFlags,
  type ClusterFlags,
  clusterOf,
  type ExternalFlags,
  externalOf,
  numberIn,
  portOf,
} from './options.ts';

const PODS = ['insecure', 'verified', 'disabled'] as const;
const CACHES = ['on', 'no-denial', 'kubeadm', 'off'] as const;

interface CorefileFlags extends Omit<CorefileOptions, 'pods' | 'cache' | 'lameduckSeconds'> {
  readonly pods: string;
  readonly cache: string;
  readonly lameduck: number;
}

function oneOf<const Word extends string>(flag: string, word: string, words: readonly Word[]): Word {
  const found = words.find((known) => known === word);
  if (found !== undefined) return found;
  const problem = `${flag} cannot be "${word}"`;
  throw new ClusterError('E_USAGE', problem, suggestion(word, words));
}

export function addCorefile(program: Command, world: ProgramWorld): Command {
  return program
    .command('corefile')
    .description('Print the Corefile that clusters run.')
    .option('--endpoint <url>', 'the API server; none as in a pod')
    .option('--upstream <server>', 'where other names are asked (default: /etc/resolv.conf)')
    .option('--port <number>', "CoreDNS's port", portOf, 53)
    .option('--address <address>', 'where CoreDNS listens (default: everywhere)')
    .option('--domain <name>', "the cluster's zone (default: cluster.local)")
    .option('--pods <mode>', PODS.join(', '), 'insecure')
    .option('--autopath <source>', '@kubernetes, or a file like resolv.conf')
    .option('--cache <mode>', CACHES.join(', '), 'on')
    .option(
      '--lameduck <seconds>',
      'how long it goes on after SIGTERM',
      numberIn('--lameduck', 0, 3600, true),
      5,
    )
    .option('--health <address>', 'address of /health (default: :8080)')
    .option('--ready <address>', 'address of /ready (default: :8181)')
    .option('--metrics <address>', 'address of /metrics (default: :9153)')
    .action(async ({ pods, cache, lameduck, ...words }: CorefileFlags) => {
      const modes = { pods: oneOf('--pods', pods, PODS), cache: oneOf('--cache', cache, CACHES) };
      await writeOut(world, renderCorefile({ ...given({ ...words }), ...modes, lameduckSeconds: lameduck }));
    });
}

interface QueriesFlags extends ClusterFlags, ExternalFlags {
  readonly count: number;
  readonly json?: boolean;
}

const MAX_QUERIES = 1_000_000;

function* lines<Item>(items: Iterable<Item>, text: (item: Item) => string): Generator<string, void, void> {
  for (const item of items) yield `${text(item)}\n`;
}

export function addQueries(program: Command, world: ProgramWorld): Command {
  const command = program
    .command('queries')
    .description("Print a workload as a query file of dnsperf's format.")
    .argument('<workload>', 'internal or external')
    .option('--count <number>', 'number of queries', numberIn('--count', 1, MAX_QUERIES, true), 1000)
    .option('--json', 'a line of JSON for each query, with the expected answer');
  return addExternalFlags(addClusterFlags(command)).action(async (workload: string, flags: QueriesFlags) => {
    const kind = oneOf('<workload>', workload, ['internal', 'external']);
    const questions =
      kind === 'internal'
        ? internalQuestions(clusterOf(flags), flags.count)
        : externalQuestions(externalOf(flags), flags.count);
    // As JSON with the expected answers, or as a query file.
    const text = flags.json === true ? JSON.stringify : ({ name, type }: Question) => `${name} ${type}`;
    await writeOut(world, lines<Question>(questions, text));
  });
}

export function addObjects(program: Command, world: ProgramWorld): Command {
  const names = RESOURCES.map(({ name }) => name);
  const command = program
    .command('objects')
    .description('Print the objects of a generated cluster, one line of JSON for each.')
    .argument('<resource>', names.join(', '));
  return addClusterFlags(command).action(async (resource: string, flags: ClusterFlags) => {
    const wanted = oneOf('<resource>', resource, names);
    const cluster = clusterOf(flags);
    for (const found of RESOURCES.filter(({ name }) => name === wanted)) {
      await writeOut(world, lines<object>(found.objects(cluster, 0), JSON.stringify));
    }
  });
}

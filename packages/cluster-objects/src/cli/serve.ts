/** The commands that serve: a line of JSON when they are ready, and the end on SIGTERM, Ctrl-C or with their launcher. */
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { onLauncherDeath, type ProgramWorld, writeOut } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { MAX_CHURN_RATE } from '../api-server/churn.ts';
import { MAX_DELAY_SECONDS } from '../upstream/delay-queue.ts';
import {
  addClusterFlags,
  addExternalFlags,
  addListenFlags,
  type ClusterFlags,
  clusterOf,
  type ExternalFlags,
  externalOf,
  type ListenFlags,
  numberIn,
} from './options.ts';

// Each command loads only what it needs: the API server must stay small beside the server that is measured.

const PARENT_POLL_MILLISECONDS = 500;

/** Calls `handler` once this process has been handed to another parent, because its own has ended. */
function onParentDeath(handler: () => void): () => void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) handler();
  }, PARENT_POLL_MILLISECONDS);
  return () => clearInterval(timer);
}

/** Says that the server is ready, and resolves when it must end. */
async function serveUntilEnd(
  world: ProgramWorld,
  { withParent = false }: ListenFlags,
  ready: Readonly<Record<string, unknown>>,
): Promise<void> {
  const end = new AbortController();
  const onEnd = () => end.abort();
  const watchers = [onLauncherDeath(onEnd), ...(withParent ? [onParentDeath(onEnd)] : [])];
  try {
    await writeOut(world, `${JSON.stringify({ ready: true, ...ready, pid: process.pid })}\n`);
    const signal = AbortSignal.any([world.signal, end.signal]);
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    for (const stopWatching of watchers) stopWatching();
  }
}

/**
 * Keeps the young generation at its first size, 1 MB. Every object is garbage as soon as it is sent, and V8 would grow that
 * space to three times 16 MB for it. Measured with 158,200 objects read twice: 65 MB of memory of its own (PSS) instead of
 * 120 MB, and no slower.
 */
function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

interface ApiFlags extends ClusterFlags, ListenFlags {
  readonly churn: number;
  readonly streamedLists: boolean;
}

export function addApi(program: Command, world: ProgramWorld): Command {
  const command = program
    .command('api')
    .description('Serve the objects of a generated cluster as a Kubernetes API server does.');
  return addListenFlags(addClusterFlags(command))
    .option(
      '--churn <rate>',
      'Services created and deleted per second from the start',
      numberIn('--churn', 0, MAX_CHURN_RATE, false),
      0,
    )
    .option('--no-streamed-lists', 'refuse watches that begin with all objects, as older API servers do')
    .action(async (flags: ApiFlags) => {
      const { address, port, churn, streamedLists } = flags;
      keepYoungGenerationSmall();
      const { startApiServer } = await import('../api-server/server.ts');
      const server = await startApiServer({ cluster: clusterOf(flags), address, port, streamedLists });
      try {
        server.churn.run(churn);
        await serveUntilEnd(world, flags, { address, port: server.port, url: server.url });
      } finally {
        await server.close();
      }
    });
}

interface UpstreamFlags extends ExternalFlags, ListenFlags {
  readonly delay: number;
  readonly ttl: number;
}

/** The largest TTL (RFC 2181, section 8). */
const MAX_TTL = 2 ** 31 - 1;

export function addUpstream(program: Command, world: ProgramWorld): Command {
  const command = program.command('upstream').description('Answer external names after a programmed delay.');
  return addListenFlags(addExternalFlags(command))
    .option(
      '--delay <milliseconds>',
      'from the query to the answer',
      numberIn('--delay', 0, MAX_DELAY_SECONDS * 1000, false),
      0,
    )
    .option('--ttl <seconds>', 'TTL of all answers', numberIn('--ttl', 0, MAX_TTL, true), 30)
    .action(async (flags: UpstreamFlags) => {
      const { address, port, delay, ttl } = flags;
      const { startUpstream } = await import('../upstream/upstream.ts');
      const options = { external: externalOf(flags), address, port, delaySeconds: delay / 1000, ttl };
      const upstream = await startUpstream(options);
      try {
        await serveUntilEnd(world, flags, { address, port: upstream.port, backend: upstream.backend });
      } finally {
        await upstream.close();
      }
    });
}

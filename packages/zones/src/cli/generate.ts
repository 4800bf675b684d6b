/** `generate`: writes the files of one format for a zone set. */

import { resolve } from 'node:path';
import { say, writeOut } from '@dinodns-bench/program';
import type { Command } from 'commander';
import { ZonesError } from '../errors.ts';
import type { Format, RenderOptions } from '../formats/format.ts';
import { findFormat } from '../formats/index.ts';
import type { ZoneSetInput } from '../spec.ts';
import { writeFiles } from '../write-files.ts';
import { defineZoneSet } from '../zone-set.ts';
import { addRange, type CliWorld, collect, numberOrText, type SpecFlags, specOf } from './options.ts';

interface GenerateFlags extends SpecFlags {
  readonly format?: string;
  readonly stdout?: boolean;
  readonly record?: string[];
  readonly ttl?: unknown;
  readonly address?: string;
  readonly port?: unknown;
  readonly workers?: unknown;
  readonly multisocket?: unknown;
  readonly match?: boolean;
}

const EXAMPLES = `
A record is "[NAME] [TTL] TYPE DATA". NAME is relative to the zone; a name in
DATA is absolute, or ends in {zone}. SOA and NS are added if there are none.

Examples:
  dinodns-zones generate --format corefile --out coredns
  dinodns-zones generate --format knot --out knot --to 1000000 --parity all \\
    --record "A 192.0.2.1" --host www
  dinodns-zones generate --format hosts --stdout --record "A 192.0.2.1" \\
    --record "AAAA 2001:db8::1"
  dinodns-zones generate --format nsd --out nsd --record "MX 10 mail.{zone}" \\
    --record "mail A 192.0.2.25"`;

export function addGenerate(program: Command, world: CliWorld): Command {
  const command = program
    .command('generate')
    .description('Write the files of one format for a zone set.')
    .option('--format <name>', 'format to generate; see list-formats')
    .option('--out <dir>', 'directory for the files; created if missing')
    .option('--stdout', 'write to standard output; for formats with a single file')
    .option(
      '--config <file>',
      'zone set as JSON: pattern, from, to, parity, ttl, records, hosts; flags override it',
    );
  return addRange(command, 'odd')
    .option('--record <record>', 'a record of every zone; repeat it for more (default: A 127.0.0.1)', collect)
    .option(
      '--host <name>',
      "a name below the zone with the zone's A and AAAA records; repeat it for more",
      collect,
    )
    .option('--ttl <seconds>', 'TTL of records that do not specify one (default: 60)', numberOrText)
    .option('--address <address>', 'where the server listens (default: 127.0.0.1)')
    .option('--port <port>', 'UDP and TCP port of the server (default: 5300)', numberOrText)
    .option('--workers <number>', 'threads or processes of the server (default: 1)', numberOrText)
    .option(
      '--multisocket <number>',
      'CoreDNS: sockets of the multisocket plugin (default: not used)',
      numberOrText,
    )
    .option('--match', 'CoreDNS templates: compare names, so that names below apex-only zones do not exist')
    .addHelpText('after', EXAMPLES)
    .action((flags: GenerateFlags) => generate(flags, world));
}

function usage(problem: string, fix: string): ZonesError {
  return new ZonesError('E_USAGE', problem, fix);
}

/** The format, after checking that the flags say what to generate and where to write it. */
function formatFor(flags: GenerateFlags): Format {
  if (flags.format === undefined) {
    throw usage(
      '--format is missing',
      'give a format, for example --format corefile; list-formats shows all',
    );
  }
  const format = findFormat(flags.format);
  if (flags.stdout === true && flags.out !== undefined) {
    throw usage('--out and --stdout are both given', 'keep the one you want');
  }
  if (flags.stdout !== true && flags.out === undefined) {
    throw usage('no output is given', 'give --out DIR, or --stdout');
  }
  if (flags.stdout === true && format.files.length > 1) {
    throw usage(
      `--stdout cannot hold the ${format.files.length} files of ${format.name} (${format.files.join(', ')})`,
      'give --out DIR instead',
    );
  }
  return format;
}

async function generate(flags: GenerateFlags, world: CliWorld): Promise<void> {
  const format = formatFor(flags);
  const { ttl, record: records } = flags;
  const zoneSet = defineZoneSet((await specOf(flags, { ttl, records }, world)) as ZoneSetInput);
  const directory = flags.out === undefined ? undefined : resolve(world.cwd, flags.out);
  const progress = startProgress(world, zoneSet.size);
  const files = format.render(zoneSet, renderOptions(flags, directory, progress.update));
  try {
    if (directory === undefined) {
      for (const { chunks } of files) await writeOut(world, chunks);
      return;
    }
    const written = await writeFiles(directory, files, { signal: world.signal });
    progress.end();
    await writeOut(
      world,
      written.map(({ path }) => `${path}\n`),
    );
    const bytes = written.reduce((sum, file) => sum + file.bytes, 0);
    const zones = zoneSet.size === 1 ? '1 zone' : `${zoneSet.size.toLocaleString('en')} zones`;
    say(world, `${zones} for ${format.title}, ${bytes.toLocaleString('en')} bytes`);
  } finally {
    progress.end();
  }
}

/** Text that is not a number stays text: the format reports it and says what is valid. */
function renderOptions(
  { address, port, workers, multisocket, match }: GenerateFlags,
  directory: string | undefined,
  onProgress: (zones: number) => void,
): RenderOptions {
  const coredns = { multisocket, match };
  return { address, port, workers, coredns, directory, onProgress } as RenderOptions;
}

/** Generations shorter than this show no progress. */
const FIRST_AFTER_SECONDS = 1;
const EVERY_SECONDS = 0.2;

/** Shows how many zones are done in a line on standard error if that is a terminal; `end` removes the line. */
export function startProgress(
  { stderr }: Pick<CliWorld, 'stderr'>,
  total: number,
  now: () => number = () => performance.now() / 1000,
): { update(done: number): void; end(): void } {
  if (stderr.isTTY !== true) return { update: () => undefined, end: () => undefined };
  const start = now();
  let last = start + FIRST_AFTER_SECONDS - EVERY_SECONDS;
  let shown = false;
  return {
    update: (done) => {
      const time = now();
      if (time - last < EVERY_SECONDS) return;
      last = time;
      shown = true;
      const percent = Math.floor((done / total) * 100);
      const rate = Math.round(done / (time - start));
      const left = Math.ceil((total - done) / Math.max(rate, 1));
      const [doneText, totalText, rateText] = [done, total, rate].map((value) => value.toLocaleString('en'));
      stderr.write(
        `\r\u001b[K${doneText} of ${totalText} zones (${percent} %), ${rateText}/s, ${left} s left`,
      );
    },
    end: () => {
      if (shown) stderr.write('\r\u001b[K');
      shown = false;
    },
  };
}

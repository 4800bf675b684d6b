/** The flags of `dinodns-server`. Nothing else reads the command line. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Command, CommanderError, Option } from 'commander';
import { EXIT_STATUS, ServerError } from './errors.ts';
import { DEFAULT_ADDRESS, DEFAULT_PORT, MODES, PROFILES, type ServerOptions } from './options.ts';
import { generatedZones, readZones } from './zone-source.ts';

interface Flags {
  profile: (typeof PROFILES)[number];
  mode: (typeof MODES)[number];
  address: string[];
  port: number;
  workers?: number;
  zones: number;
  zonesFile?: string;
}

function versionIn(manifest: URL | string): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** `0.1.0 (dinodns 0.0.13, Node.js 24.21.0)`: what answers is the framework as much as this package. */
function version(): string {
  const own = versionIn(new URL('../package.json', import.meta.url));
  const framework = versionIn(createRequire(import.meta.url).resolve('dinodns/package.json'));
  return `${own} (dinodns ${framework}, Node.js ${process.versions.node})`;
}

function wholeNumber(flag: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new ServerError('E_USAGE', `${flag} "${text}" is not a whole number.`, `Give ${flag} digits only.`);
  };
}

const EXIT_HELP = `
The first line on standard output says that the server answers, over UDP and TCP and in every worker:
  {"ready":true,"address":"127.0.0.1","addresses":["127.0.0.1"],"port":5300,"pid":4711,"workers":1}
SIGTERM or SIGINT stops it after what has been received is answered; a second one stops it at once.

Exit status: 0 stopped or help shown, 1 a bug, 2 wrong usage or zone data, 3 the port is taken or may not be
bound, 4 the server did not start or its workers keep dying, 130 and 143 stopped at once by a second signal.`;

function command(): Command {
  return new Command('dinodns-server')
    .description('Serves generated zones with DinoDNS, over UDP and TCP.')
    .version(version())
    .addOption(
      new Option('--profile <name>', 'dinodns: robust networks and store; stock: the framework as published')
        .choices(PROFILES)
        .default('dinodns'),
    )
    .addOption(
      new Option('--mode <mode>', 'single: one process; multi: a worker for each usable CPU')
        .choices(MODES)
        .default('single'),
    )
    .option('--address <ip...>', `addresses to listen on (default: ${DEFAULT_ADDRESS})`)
    .option(
      '--port <number>',
      'port for UDP and TCP; 0 picks a free one',
      wholeNumber('--port'),
      DEFAULT_PORT,
    )
    .option('--workers <number>', 'processes in mode multi (default: usable CPUs)', wholeNumber('--workers'))
    .addOption(
      new Option('--zones <number>', 'how many of example1.com, example3.com, … to serve')
        .argParser(wholeNumber('--zones'))
        .default(100)
        .conflicts('zonesFile'),
    )
    .option(
      '--zones-file <file>',
      'zones.ndjson as written by `dinodns-zones generate --format dinodns-json`',
    )
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
}

/** Throws `E_USAGE`, `E_ZONES` or `E_UNREADABLE`. Prints help or version and ends the process when asked for them. */
export async function parseCommandLine(args: readonly string[]): Promise<ServerOptions> {
  const parser = command();
  try {
    parser.parse(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) process.exit(EXIT_STATUS.success);
    const message = error.message.replace(/^error: /, '');
    throw new ServerError('E_USAGE', message, 'See `dinodns-server --help`.');
  }
  const { profile, mode, address, port, workers, zones, zonesFile } = parser.opts<Flags>();
  return {
    profile,
    mode,
    port,
    ...(address === undefined ? {} : { address }),
    ...(workers === undefined ? {} : { workers }),
    zones: zonesFile === undefined ? generatedZones(zones) : await readZones(zonesFile),
  };
}

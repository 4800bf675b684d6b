/**
 * Signed zones for servers under test, made by BIND's or NLnet Labs' tools: bench signs nothing itself. All zones have
 * the same records and the same key, so that the tools need few seconds for a hundred of them.
 */
import { join } from 'node:path';
import { findFormat, type ZoneSet } from '@dinodns-bench/zones';
import { BenchError } from '../errors.ts';
import { findDaemon } from '../machine/find-executable.ts';
import { runToEnd } from '../process.ts';
import { installHint } from '../provision/path-tools.ts';
import type { World } from '../world.ts';

/** Processes that sign at the same time. */
const CONCURRENCY = 4;

/** ECDSA P-256 (RFC 6605): the algorithm that RFC 8624 requires of all signers, with short signatures. */
const ALGORITHM = 'ECDSAP256SHA256';

interface Signing {
  readonly zone: string;
  /** The zone file that all zones share: its names are relative. */
  readonly input: string;
  readonly output: string;
  readonly keys: string;
  /** Path of the zone's key files, without their extensions. */
  readonly key: string;
}

interface Tools {
  readonly keygen: string;
  readonly signzone: string;
  /** What to run, in the folder of the keys: it prints the name of the key. */
  keygenArguments(zone: string): string[];
  signArguments(signing: Signing): string[];
}

/** In the order in which they are looked for. */
const TOOLS: readonly Tools[] = [
  {
    keygen: 'dnssec-keygen',
    signzone: 'dnssec-signzone',
    keygenArguments: (zone) => ['-q', '-a', ALGORITHM, '-f', 'KSK', zone],
    // -P: not verified again. -z: one key for everything. NSEC, the default.
    signArguments: ({ zone, input, output, keys }) => [
      ...['-q', '-P', '-S', '-z', '-K', keys, '-d', keys],
      ...['-o', zone, '-f', output, input],
    ],
  },
  {
    keygen: 'ldns-keygen',
    signzone: 'ldns-signzone',
    keygenArguments: (zone) => ['-a', ALGORITHM, '-k', zone],
    signArguments: ({ zone, input, output, key }) => ['-o', zone, '-f', output, input, key],
  },
];

/** The tools with their paths. */
async function findTools(world: World, names: readonly string[]): Promise<Tools> {
  for (const tools of TOOLS.filter(({ signzone }) => names.includes(signzone))) {
    const [keygen, signzone] = await Promise.all([
      findDaemon(world, tools.keygen),
      findDaemon(world, tools.signzone),
    ]);
    if (keygen !== null && signzone !== null) return { ...tools, keygen, signzone };
  }
  throw new BenchError(
    'E_TOOL_MISSING',
    `--dnssec needs a tool that signs zones, and neither ${names.join(' nor ')} is installed`,
    { fix: await installHint(world, 'dnssec-signzone', 'bind9-utils') },
  );
}

async function run(world: World, command: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(world, command, { cwd });
  if (code === 0) return stdout;
  throw new BenchError('E_PROVISION_FAILED', `a zone cannot be signed: ${command.join(' ')} failed`, {
    evidence: stderr.split('\n').slice(-10),
    fix: 'Repair the installation of the tool, or omit --dnssec.',
  });
}

/** The key of the first zone as one of `zone`: only the owner of the record differs. */
async function copyKey(world: World, keys: string, from: string, zone: string): Promise<string> {
  const name = from.replace(/^K.*\.(?=\+)/, `K${zone}.`);
  const record = await world.fs.readFile(join(keys, `${from}.key`), 'utf8');
  await world.fs.writeFile(join(keys, `${name}.key`), record.replace(/^[^;\s]\S*/m, `${zone}.`));
  const secret = await world.fs.readFile(join(keys, `${from}.private`), 'utf8');
  await world.fs.writeFile(join(keys, `${name}.private`), secret);
  return name;
}

async function writeSharedZone(world: World, zoneSet: ZoneSet, path: string): Promise<void> {
  for (const file of findFormat('corefile-file').render(zoneSet)) {
    if (file.path.endsWith('.zone')) await world.fs.writeFile(path, file.chunks);
  }
}

/**
 * Writes a signed file for each zone into `directory`, `NAME.zone`, and its keys beside it, in `keys`.
 * @throws BenchError `E_TOOL_MISSING` with what to install, or `E_PROVISION_FAILED`.
 */
export async function signZones(
  world: World,
  zoneSet: ZoneSet,
  directory: string,
  signal: AbortSignal,
  signers: readonly string[] = TOOLS.map(({ signzone }) => signzone),
): Promise<void> {
  const tools = await findTools(world, signers);
  const keys = join(directory, 'keys');
  await world.fs.mkdir(keys, { recursive: true });
  const input = join(keys, 'shared');
  await writeSharedZone(world, zoneSet, input);
  const zones = Array.from(zoneSet.zones(), ({ name }) => name);
  const [first = ''] = zones;
  const made = (await run(world, [tools.keygen, ...tools.keygenArguments(first)], keys)).trim();
  let next = 0;
  const sign = async () => {
    for (let zone = zones[next++]; zone !== undefined; zone = zones[next++]) {
      signal.throwIfAborted();
      const key = zone === first ? made : await copyKey(world, keys, made, zone);
      const output = join(directory, `${zone}.zone`);
      const signing = { zone, input, output, keys, key: join(keys, key) };
      await run(world, [tools.signzone, ...tools.signArguments(signing)], keys);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, sign));
}

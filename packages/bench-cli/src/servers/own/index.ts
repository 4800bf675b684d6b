/** Servers of the user's own, which a file describes (`my=./server.yaml`). */
import { dirname, join, resolve } from 'node:path';
import { whyUnreadable } from '@dinodns-bench/program';
import { findFormat } from '@dinodns-bench/zones';
import { BenchError } from '../../errors.ts';
import type { World } from '../../world.ts';
import type { ConfigurationFile, InstancePlan, InstanceRequest, Server } from '../server.ts';
import { type Description, type OwnFile, parseDescription } from './description.ts';
import { filled, type Values, workersFor } from './placeholders.ts';
import { ownProgram } from './program.ts';

/** The kind of these servers in records. */
const KIND = 'own';

/** The file itself is in the record, under this name. */
export const DESCRIPTION_FILE = 'server.yaml';

function valuesFor(description: Description, request: InstanceRequest, node: string): Values {
  const { address, port, transport, certificate, directory, mode, cpus } = request;
  const format = description.zones?.format;
  const [zoneFile = ''] = format === undefined ? [] : findFormat(format).files;
  return {
    address,
    port: String(port),
    zones: directory,
    'zone-file': join(directory, zoneFile),
    transport,
    certificate: certificate?.certificateFile ?? '',
    key: certificate?.keyFile ?? '',
    mode,
    workers: String(workersFor(request)),
    cpus: String(cpus),
    node,
  };
}

function filesFor(
  { zones, files }: Description,
  { text }: OwnFile,
  request: InstanceRequest,
  values: Values,
): ConfigurationFile[] {
  const { directory, address, port } = request;
  const options = { directory, address, port, workers: workersFor(request) };
  return [
    { path: DESCRIPTION_FILE, chunks: [text] },
    ...(zones === undefined ? [] : findFormat(zones.format).render(request.zoneSet, options)),
    ...Object.entries(files).map(([path, content]) => ({ path, chunks: [filled(content, values)] })),
  ];
}

/** How one instance is started: on this machine, or with the image's entry point in place of the program. */
function planFor(
  description: Description,
  file: OwnFile,
  request: InstanceRequest,
  node: string,
): InstancePlan {
  const { command, beside, environment, ready, stop, imageArguments = command.slice(1) } = description;
  const onCluster = request.program.length === 0;
  const values = valuesFor(description, request, onCluster ? 'node' : node);
  const words = onCluster ? imageArguments : command.slice(1);
  return {
    files: filesFor(description, file, request, values),
    command: [...request.program, ...words.map((word) => filled(word, values))],
    env: Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [name, filled(value, values)]),
    ),
    readiness: typeof ready === 'string' ? { kind: ready } : { kind: 'line', text: ready.line },
    workers: null,
    beside: beside.map((other) => other.map((word) => filled(word, values))),
    cwd: file.directory,
    stopSignal: stop,
  };
}

function serverOf(name: string, description: Description, file: OwnFile, node: string): Server {
  const { title = name, image, transports, modes, unknownZones } = description;
  return {
    name,
    title,
    kind: KIND,
    variant: null,
    version: null,
    isVersionNamed: false,
    program: ownProgram(name, description, file),
    image:
      image === undefined ? null : { reference: () => image, origin: `its own image: docker build -t IMAGE` },
    triedFirst: true,
    answersUnknownZoneWith: unknownZones,
    transports,
    unsupported: (mode) => (modes.includes(mode) ? null : `${file.path} has modes: [${modes.join(', ')}]`),
    plan: (request) => planFor(description, file, request, node),
    versionArguments: [],
    parseVersion: () => null,
  };
}

async function readText(
  world: Pick<World, 'fs'>,
  name: string,
  path: string,
  absolute: string,
): Promise<string> {
  try {
    return await world.fs.readFile(absolute, 'utf8');
  } catch (cause) {
    throw new BenchError('E_UNREADABLE', `--servers ${name}=${path}: ${whyUnreadable(cause)}`, {
      fix: 'Give the path of a YAML file that says how to start the server; docs/your-own-server.md has one. For a server that is running: NAME=at:ADDRESS.',
      cause,
    });
  }
}

/**
 * The server that the file at `path` describes.
 * @throws BenchError `E_UNREADABLE`, or `E_CONFIG` with everything that is wrong with it as evidence.
 */
export async function loadOwnServer(
  world: Pick<World, 'fs' | 'cwd' | 'processes'>,
  name: string,
  path: string,
): Promise<Server> {
  const absolute = resolve(world.cwd, path);
  const text = await readText(world, name, path, absolute);
  const description = await parseDescription(text);
  if ('problems' in description) {
    throw new BenchError('E_CONFIG', `${path} does not describe a server`, {
      evidence: description.problems.map((problem) => `${path}: ${problem}`),
      fix: 'Correct the file; docs/your-own-server.md lists all keys.',
    });
  }
  const directory = resolve(dirname(absolute), description.directory);
  const isDirectory = await world.fs.stat(directory).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
  if (!isDirectory) {
    throw new BenchError('E_CONFIG', `${path}: directory: ${directory} is not a directory`, {
      fix: 'Give a directory relative to the file, or omit the key to run the program where the file is.',
    });
  }
  return serverOf(name, description, { path, text, directory }, world.processes.nodePath);
}

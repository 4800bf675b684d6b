/**
 * Asks the programs in the images for their versions, in the cluster, on each node that may run them: so every image is pulled
 * before a trial, and one that a node cannot get is known before anything starts.
 */
import { BenchError } from '../../errors.ts';
import { allOrAbort } from '../../process.ts';
import { DNSPERF_VERSION, readVersion } from '../../provision/tool-version.ts';
import type { ProvisionedTool, ServerRecord } from '../../results/record.ts';
import { answersOf, identityOf, type Server } from '../../servers/server.ts';
import type { ClusterRun } from './cluster-run.ts';
import { describeService, findService, imageTag } from './existing-service.ts';
import type { LoaderKind } from './images.ts';
import { type OnceRequest, runOnce } from './run-job.ts';

const VERSION_QUESTIONS = {
  dnsperf: { command: ['dnsperf'], args: DNSPERF_VERSION.arguments },
  builtin: { args: ['--version'] },
} as const;

function loaderVersionOf(kind: LoaderKind, text: string): string {
  const version =
    kind === 'dnsperf' ? readVersion(DNSPERF_VERSION, text) : /^(\d+\.\d+\.\d+\S*)/m.exec(text)?.[1];
  return version ?? 'unknown';
}

/** Printing a version takes a moment. */
const RUN_SECONDS = 60;

/** With more nodes, pods of a run are on few of them, and only one is asked: the scheduler's choice. */
const MAX_NODES = 4;

interface Answer {
  readonly text: string;
  /** As the node resolved it: with the digest where the registry gave one. */
  readonly image: string;
  /** Where it ran. */
  readonly node: string;
  /** Of that node. */
  readonly architecture: string;
}

interface Question extends Pick<OnceRequest, 'image' | 'what' | 'args' | 'command' | 'needsBindService'> {
  readonly atLoader: boolean;
}

async function askImage(
  run: ClusterRun,
  request: Question,
  node: string | null,
  signal: AbortSignal,
): Promise<Answer> {
  const { pod, lines } = await runOnce(run, {
    ...request,
    ...{ name: 'version', label: 'inspector', signal, runSeconds: RUN_SECONDS },
    // The images must be pulled where servers run and where the loader runs.
    component: request.atLoader ? 'loader' : 'server',
    ...(node === null ? {} : { node }),
  });
  const status = pod.status?.containerStatuses?.[0];
  const { nodeName = '' } = pod.spec ?? {};
  return {
    text: lines.join('\n'),
    image: status?.imageID || status?.image || request.image,
    node: nodeName,
    architecture: run.architectures.get(nodeName) ?? '',
  };
}

function provisioned(tool: string, version: string, image: string, resolved: string): ProvisionedTool {
  return { tool, version, executable: image, source: 'image', origin: resolved, sizeBytes: null };
}

function nodesFor({ nodeCpus, loaderNodes }: ClusterRun, { atLoader }: Question): (string | null)[] {
  const nodes = atLoader ? loaderNodes : [...nodeCpus.keys()];
  return nodes.length > MAX_NODES ? [null] : [...nodes];
}

const DIGEST = /(@?)(sha256:[0-9a-f]{64})$/;

/**
 * A tag that was moved may stand for another image on a node that pulled it before: what runs on the two is not one server, even
 * if both say the same version. A node that pulled an image names its manifest, one that imported it its configuration; between
 * these nothing follows, nor between nodes of two architectures, which need two images.
 * @throws BenchError `E_POD_IMAGE` with the image of each node
 */
export function demandOneImage(image: string, what: string, answers: readonly Omit<Answer, 'text'>[]): void {
  const digests = answers.flatMap((answer) => {
    const [, pulled, digest] = DIGEST.exec(answer.image) ?? [];
    return digest === undefined ? [] : [{ digest, pulled, ...answer }];
  });
  const kinds = Map.groupBy(digests, ({ pulled, architecture }) => `${architecture} ${pulled}`);
  if ([...kinds.values()].every((same) => new Set(same.map(({ digest }) => digest)).size === 1)) return;
  throw new BenchError('E_POD_IMAGE', `${what}: ${image} is not the same image on all nodes`, {
    evidence: digests.map(({ node, digest }) => `node ${node} has ${digest}`),
    fix: 'Name the image by its digest, or let each node pull it again with --pull-policy Always.',
  });
}

/** Asks all images at once; there are only a few. The first failure ends the others. */
async function askAll(
  run: ClusterRun,
  questions: ReadonlyMap<string, Question>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Answer>> {
  const failed = new AbortController();
  const limit = AbortSignal.any([signal, failed.signal]);
  const found = await allOrAbort(
    [...questions].flatMap(([key, question]) =>
      nodesFor(run, question).map(async (node): Promise<[string, Answer]> => {
        return [key, await askImage(run, question, node, limit)];
      }),
    ),
    failed,
  );
  signal.throwIfAborted();
  for (const [key, { image, what }] of questions) {
    demandOneImage(
      image,
      what,
      found.flatMap(([asked, answer]) => (asked === key ? [answer] : [])),
    );
  }
  return new Map(found);
}

const LOADER = 'loader';

function questionsFor(
  { images }: ClusterRun,
  servers: readonly Server[],
  loaderKind: LoaderKind,
): Map<string, Question> {
  const questions = new Map<string, Question>();
  for (const server of servers) {
    if (server.existing !== undefined || server.versionArguments.length === 0) continue;
    const image = images.of(server);
    // Servers that share an image are asked once.
    if (questions.has(image)) continue;
    questions.set(image, {
      image,
      what: server.name,
      args: server.versionArguments,
      atLoader: false,
      needsBindService: server.image?.needsBindService === true,
    });
  }
  const question = VERSION_QUESTIONS[loaderKind];
  questions.set(LOADER, { image: images.loader, what: 'the loader', atLoader: true, ...question });
  return questions;
}

export async function inspectImages(
  run: ClusterRun,
  servers: readonly Server[],
  loaderKind: LoaderKind,
  signal: AbortSignal,
) {
  const { images } = run;
  const answers = await askAll(run, questionsFor(run, servers, loaderKind), signal);
  const records: ServerRecord[] = [];
  const tools = new Map<string, ProvisionedTool>();
  for (const server of servers) {
    const { existing } = server;
    if (existing !== undefined && existing.kind !== 'address') {
      records.push(describeService(identityOf(server), await findService(run.client, existing, signal)));
    }
    if (server.image === null) continue;
    const image = images.of(server);
    const answer = answers.get(image);
    if (answer === undefined) {
      // Nobody said how to ask it.
      const files = { version: imageTag(image), executable: image, components: answersOf(server), files: {} };
      records.push({ ...identityOf(server), ...files });
      continue;
    }
    const known = server.parseVersion(answer.text);
    const version = known?.version ?? imageTag(image);
    if (!tools.has(image))
      tools.set(image, provisioned(server.program?.name ?? server.name, version, image, answer.image));
    records.push({
      ...identityOf(server),
      version,
      executable: image,
      components: { ...known?.components, image: answer.image, ...answersOf(server) },
      files: {},
    });
  }
  const loader = answers.get(LOADER);
  const loaderVersion = loaderVersionOf(loaderKind, loader?.text ?? '');
  tools.set(LOADER, provisioned(loaderKind, loaderVersion, images.loader, loader?.image ?? images.loader));
  return { servers: records, loaderVersion, provisioned: [...tools.values()] };
}

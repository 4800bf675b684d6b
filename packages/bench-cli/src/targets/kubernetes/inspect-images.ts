/** Asks the programs in the images for their versions, in the cluster: so every image is pulled before a trial. */
import { parseToolVersion } from '../../provision/tool-version.ts';
import type { ProvisionedTool, ServerRecord } from '../../results/record.ts';
import type { ServerKind } from '../../servers/server.ts';
import { describeClusterDns, findClusterDns } from './cluster-dns.ts';
import type { ClusterRun } from './cluster-run.ts';
import type { LoaderKind } from './images.ts';
import { jobOf } from './objects/job.ts';
import { unitLabels, unitSelector } from './objects/labels.ts';
import { noImage } from './objects/server.ts';
import { runJob } from './run-job.ts';

const VERSION_QUESTIONS = {
  dnsperf: { command: ['dnsperf'], args: ['-h'] },
  builtin: { args: ['--version'] },
} as const;

function loaderVersionOf(kind: LoaderKind, text: string): string {
  const version =
    kind === 'dnsperf' ? parseToolVersion('dnsperf', text) : /^(\d+\.\d+\.\d+\S*)/m.exec(text)?.[1];
  return version ?? 'unknown';
}

/** Printing a version takes a moment. */
const RUN_SECONDS = 60;

interface Answer {
  readonly text: string;
  /** As the node resolved it: with the digest where the registry gave one. */
  readonly image: string;
}

async function askImage(
  run: ClusterRun,
  request: {
    readonly image: string;
    readonly what: string;
    readonly args: readonly string[];
    readonly command?: readonly string[];
    readonly atLoader: boolean;
    readonly needsBindService?: boolean;
  },
  signal: AbortSignal,
): Promise<Answer> {
  const { client, namespace, runId, settings, pullSecrets } = run;
  const { image, what, args, command, atLoader, needsBindService } = request;
  run.jobs += 1;
  const unit = `version-${run.jobs}`;
  // Where servers run and where the loader runs: the images have to be there.
  const component = atLoader ? 'loader' : 'server';
  const labels = unitLabels(runId, 'inspector', unit);
  const lines: string[] = [];
  const { pod } = await runJob({
    client,
    namespace,
    labels: unitSelector(runId, unit),
    what,
    signal,
    job: jobOf({
      name: unit,
      namespace,
      labels,
      settings,
      component,
      image,
      args,
      ...(command === undefined ? {} : { command }),
      ...(needsBindService === undefined ? {} : { needsBindService }),
      pullSecrets,
      deadlineSeconds: settings.readyTime + RUN_SECONDS,
    }),
    scheduleSeconds: settings.scheduleTime,
    startSeconds: settings.readyTime,
    runSeconds: RUN_SECONDS,
    onLine: (line) => {
      lines.push(line);
    },
  });
  const status = pod.status?.containerStatuses?.[0];
  return { text: lines.join('\n'), image: status?.imageID || status?.image || image };
}

export interface InspectedImages {
  readonly servers: readonly ServerRecord[];
  readonly loaderVersion: string;
  readonly provisioned: readonly ProvisionedTool[];
}

function provisioned(tool: string, version: string, image: string, resolved: string): ProvisionedTool {
  return { tool, version, executable: image, source: 'image', origin: resolved, sizeBytes: null };
}

/** One image after the other; servers that share an image are asked once. */
export async function inspectImages(
  run: ClusterRun,
  servers: readonly ServerKind[],
  loaderKind: LoaderKind,
  signal: AbortSignal,
): Promise<InspectedImages> {
  const { images } = run;
  const known = new Map<string, Answer>();
  const records: ServerRecord[] = [];
  const tools: ProvisionedTool[] = [];
  for (const server of servers) {
    if (server.existing) {
      records.push(describeClusterDns(await findClusterDns(run.client, signal)));
      continue;
    }
    if (server.image === null) throw noImage(server);
    const image = images[server.image];
    const answer =
      known.get(image) ??
      (await askImage(
        run,
        {
          image,
          what: server.name,
          args: server.versionArguments,
          atLoader: false,
          needsBindService: server.image === 'coredns',
        },
        signal,
      ));
    const version = server.parseVersion(answer.text);
    if (!known.has(image)) {
      tools.push(provisioned(server.tool, version?.version ?? 'unknown', image, answer.image));
    }
    known.set(image, answer);
    records.push({
      kind: server.name,
      title: server.title,
      version: version?.version ?? 'unknown',
      executable: image,
      components: { ...version?.components, image: answer.image },
      files: {},
    });
  }
  const loader = await askImage(
    run,
    { image: images.loader, what: 'the loader', atLoader: true, ...VERSION_QUESTIONS[loaderKind] },
    signal,
  );
  const loaderVersion = loaderVersionOf(loaderKind, loader.text);
  tools.push(provisioned(loaderKind, loaderVersion, images.loader, loader.image));
  return { servers: records, loaderVersion, provisioned: tools };
}

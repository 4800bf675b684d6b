/** Searches on this machine: each start in a control group of its own, beside an API server of its point's objects. */
import type {
  Measuring,
  Opened,
  OpenRequest,
  PlannedTrial,
  TrialEvents,
} from '../../../engine/experiment.ts';
import { oneAtATime } from '../../../one-at-a-time.ts';
import { withStaging } from '../../../provision/cache.ts';
import { openMemoryGroup, readAhead } from '../../../targets/local/memory-group.ts';
import { fileNameOf } from '../../../text.ts';
import { deployCoredns, executableOf } from '../deploy-coredns.ts';
import { loadsInto, openCoredns } from '../machine.ts';
import { writeQueryFiles } from '../memory/queries.ts';
import { COUNTED, type SurviveEvidence } from './evidence.ts';
import { findLimit, LEAST_BYTES, limitConditions, titleOf } from './find-limit.ts';
import type { StepSeconds } from './patience.ts';
import { planSearches } from './plan-searches.ts';
import { environmentOf, pointOf, type SurvivePlan, type SurvivePoint } from './points.ts';
import type { SurviveSettings } from './settings.ts';
import { type Start, startUnder } from './start.ts';

/** A query without an answer after this time is lost. */
const TIMEOUT_SECONDS = 2;

interface Asked {
  readonly point: SurvivePoint;
  readonly limitBytes: number;
  /** What is kept of it. */
  readonly raw: string;
  /** What is not. */
  readonly staging: string;
  readonly on: TrialEvents;
  readonly title: string;
  readonly usual: StepSeconds;
}

export async function openHere(
  request: OpenRequest<SurviveSettings, SurvivePlan>,
): Promise<Opened<Measuring<SurviveEvidence>, SurviveSettings, SurvivePlan>> {
  const { world, settings, decided, display, signal } = request;
  // Before anything is started: whether there can be limits at all.
  await (await openMemoryGroup(world, 'capacity-survive-probe', LEAST_BYTES)).remove();
  const { counted } = decided;
  const revised =
    counted === null
      ? {}
      : { revised: { settings: counted.settings, plan: await planSearches(counted.settings, world) } };
  const opened = await openCoredns(request, 'capacity survive', {
    ...settings,
    // The only one that sends on schedule while nothing is answered.
    loader: 'builtin',
  });
  const { context } = opened;
  if (counted !== null) display.line(counted.text);
  const ahead = await withStaging(world, (directory) => readAhead(world, directory));
  const alone = oneAtATime();
  let groups = 0;

  async function start({ point, limitBytes, raw, staging, on, title, usual }: Asked): Promise<Start> {
    groups += 1;
    const group = await openMemoryGroup(world, `capacity-survive-${groups}`, limitBytes);
    try {
      await world.fs.mkdir(raw, { recursive: true });
      const send = loadsInto(context, raw);
      return await startUnder({
        ...{ world, point, limitBytes, group, signal, alone, usual },
        queries: await writeQueryFiles(world, raw, point.cluster),
        outageSeconds: settings.outage,
        prepare: () => group.copyProgram(executableOf(context, point.server), staging),
        deploy: (executable, until) =>
          deployCoredns(
            { ...context, signal: until, onFiles: on.files },
            {
              ...point,
              directory: raw,
              within: group.wrap,
              executable,
              streamedLists: point.lists !== 'paged',
              env: environmentOf(point, limitBytes, settings.target),
            },
          ),
        load: ({ instance }, { file, seconds, isPaced, onStarted = () => undefined, signal: until }) =>
          send(instance, {
            ...{ queryFile: file, durationSeconds: seconds, openLoop: isPaced, signal: until, onStarted },
            ratePerSecond: isPaced ? settings.rate : null,
            timeoutSeconds: TIMEOUT_SECONDS,
          }),
        onPhase: (scenario) => on.phase(`${title}: ${scenario}`),
      });
    } finally {
      await group.remove();
      await world.fs.rm(`${raw}/fill.txt`, { force: true });
    }
  }

  const measure = ({ key, case: item }: PlannedTrial, on: TrialEvents) => {
    const point = pointOf(item);
    return findLimit(
      { point, key, settings, mostBytes: decided.mostBytes, on },
      (limitBytes, number, usual) => {
        const title = titleOf(number, limitBytes);
        const raw = `${context.rawDirectory}/${fileNameOf(key)}/${number}`;
        return withStaging(world, (staging) => start({ point, limitBytes, raw, staging, on, title, usual }));
      },
    );
  };

  return {
    ...opened,
    context: { measure },
    conditions: {
      ...opened.conditions,
      'side by side': `up to ${decided.lanes} starts; none begins while another reads everything again after its outage`,
      'read around a missing page': ahead === null ? 'not known' : `${ahead} KiB`,
      [COUNTED]: 'anonymous memory, and the pages of the program, as in a container',
      ...limitConditions(settings),
    },
    ...revised,
  };
}

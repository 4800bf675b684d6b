/** The progress of a run as a person reads it: which trial of how many, its phase, live QPS, time left. */
import type { RunEvents } from '../../measure/run.ts';
import type { TrialPhase } from '../../measure/trial-context.ts';
import type { Plan, PlannedCase, PlannedTrial } from '../../plan/plan.ts';
import type { Display } from '../../progress/display.ts';
import type { Trial } from '../../results/record.ts';
import type { Server } from '../../servers/server.ts';
import { formatDuration } from '../../text.ts';
import type { Clock } from '../../world.ts';

export interface RunProgress extends RunEvents {
  stop(): void;
}

export interface RunProgressOptions {
  readonly display: Display;
  readonly clock: Clock;
  readonly plan: Plan;
  /** Trials that an earlier run of the same record has already done. */
  readonly done: number;
  readonly titleWidth: number;
}

const REFRESH_SECONDS = 0.25;

const integer = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/**
 * `1 single`, `2×1 single`, `2 multi`: instances, vCPUs and mode; then of workload, transport and rate what is not the same
 * in all cases. The baseline's twin is marked `A/A`.
 */
function labeller({ cases }: Plan): (trial: PlannedTrial) => string {
  const varies = (value: (item: PlannedCase) => unknown) => new Set(cases.map(value)).size > 1;
  const extras = [
    (item: PlannedCase) => item.workload,
    (item: PlannedCase) => item.transport,
    (item: PlannedCase) => (item.ratePerSecond === null ? 'max' : `${item.ratePerSecond}/s`),
  ].filter(varies);
  return ({ case: item }) => {
    const { tier, mode, instances, aa } = item;
    const shape = `${instances > 1 ? `${instances}×${tier / instances}` : tier} ${mode}`;
    return [shape, ...extras.map((extra) => extra(item)), ...(aa ? ['A/A'] : [])].join(' ');
  };
}

/** `52,113 QPS  1.912 ms  limit: server`, with losses if there are any, or why it failed. */
export function trialLine(trial: Trial): string {
  if (trial.status === 'failed') return `failed: ${trial.failure.message}`;
  const { metrics, load, limitedBy } = trial;
  const latency = metrics.latencySeconds === null ? '–' : `${(metrics.latencySeconds * 1000).toFixed(3)} ms`;
  const qps = `${integer.format(metrics.qps)} QPS`.padStart(11);
  const lost = load.queriesLost === 0 ? '' : `  ${integer.format(load.queriesLost)} lost`;
  return `${qps}  ${latency}${lost}  limit: ${limitedBy}`;
}

export function createRunProgress(options: RunProgressOptions): RunProgress {
  const { display, clock, plan, titleWidth } = options;
  let total = plan.trials.length;
  const planned = plan.secondsPerTrial;
  const caseLabel = labeller(plan);
  const labels = [...new Set(plan.trials.map(caseLabel))];
  const labelWidth = Math.max(...labels.map((label) => label.length));
  // Omits what would be the same in every line.
  const suffix = (trial: PlannedTrial) =>
    labels.length > 1 ? ` ${caseLabel(trial).padEnd(labelWidth)}` : '';
  let done = options.done;
  const beganAt = clock.monotonicSeconds();
  let lastEndedAt = beganAt;
  let current: string | undefined;
  let phase: TrialPhase = 'starting';
  let qps: number | undefined;

  const timeLeft = () => {
    const measured = done - options.done;
    const perTrial = measured === 0 ? planned : (lastEndedAt - beganAt) / measured;
    const inTrial = clock.monotonicSeconds() - lastEndedAt;
    return formatDuration(Math.max(0, (total - done) * perTrial - inTrial));
  };
  const refresh = () => {
    if (current === undefined) return;
    const rate = qps === undefined || phase === 'starting' ? '' : ` · ${integer.format(qps)} QPS`;
    display.live(`  ${done + 1}/${total} ${current} · ${phase}${rate} · ${timeLeft()} left`);
  };
  const stopped = new AbortController();
  const tick = async () => {
    while (!stopped.signal.aborted) {
      refresh();
      await clock.sleep(REFRESH_SECONDS, stopped.signal).catch(() => undefined);
    }
  };
  if (display.isLive) void tick();

  return {
    trialStarted(trial: PlannedTrial, server: Server) {
      current = `${server.title}${suffix(trial).trimEnd()}`;
      phase = 'starting';
      qps = undefined;
      refresh();
    },
    phase(next) {
      phase = next;
      if (next === 'starting' || next === 'measuring') qps = undefined;
      refresh();
    },
    rate(next) {
      qps = next;
      refresh();
    },
    trialEnded(trial, server, result) {
      lastEndedAt = clock.monotonicSeconds();
      current = undefined;
      done += 1;
      const mark = result.status === 'ok' ? '✓' : '✗';
      const position = `${String(done).padStart(String(total).length)}/${total}`;
      const label = `${server.title.padEnd(titleWidth)}${suffix(trial)}`;
      display.line(`${mark} ${position} ${label}  ${trialLine(result)}`);
      if (result.status === 'failed')
        for (const text of result.failure.evidence) display.line(`      ${text}`);
    },
    planExtended(next) {
      total = next.trials.length;
    },
    stop() {
      stopped.abort();
      display.clear();
    },
  };
}

/** `bench doctor`: what this machine has and lacks; with `--fix` the missing tools are got. */

import { cannonVersion } from '@dinodns-bench/load';
import { EXIT_STATUS, messageOf } from '@dinodns-bench/program';
import { Ansis } from 'ansis';
import { DEFAULTS } from '../config/settings.ts';
import { type CheckState, inspectMachine } from '../doctor/inspect-machine.ts';
import { listenForInterruption } from '../interruption.ts';
import { createDisplay } from '../progress/display.ts';
import { provisionProgress } from '../progress/provision-progress.ts';
import { inspectTools, type ToolInspection } from '../provision/inspect.ts';
import { createProvisioner } from '../provision/provisioner.ts';
import { wrapText } from '../text.ts';
import type { World } from '../world.ts';

interface Finding {
  readonly name: string;
  readonly title: string;
  readonly state: CheckState;
  readonly found: string;
  readonly advice: string | null;
}

/** Server and loader of a run at tier 1 with one loader thread. */
const CPUS_NEEDED = 2;

function toolFinding(tool: ToolInspection): Finding {
  const base = { name: tool.tool, title: tool.tool };
  if (tool.found !== null) {
    return { ...base, state: 'ok', found: `${tool.found.version}, ${tool.found.executable}`, advice: null };
  }
  const how =
    tool.wouldBeGot === null
      ? tool.fix
      : `\`bench doctor --fix\` or the first run gets it: ${tool.wouldBeGot}`;
  // Without dnsperf the built-in loader serves.
  const needed = !tool.optional && tool.tool !== 'dnsperf';
  const state = needed && tool.wouldBeGot === null ? 'problem' : 'notice';
  return { ...base, state, found: `missing${tool.optional ? ' (optional)' : ''}`, advice: how };
}

/** Which loader a run would use, if none is asked for. */
function loaderFinding(tools: readonly ToolInspection[]): Finding {
  const dnsperf = tools.find(({ tool }) => tool === 'dnsperf');
  const builtin = `builtin ${cannonVersion()} (dnscannon)`;
  const base = { name: 'loader', title: 'loader', state: 'ok', advice: null } as const;
  if (dnsperf !== undefined && dnsperf.found !== null)
    return { ...base, found: `dnsperf ${dnsperf.found.version}; --loader builtin: ${builtin}` };
  return dnsperf !== undefined && dnsperf.wouldBeGot !== null
    ? { ...base, found: `dnsperf, once it is got; with --no-provision ${builtin}` }
    : { ...base, found: `${builtin}, since dnsperf cannot be had` };
}

/** Gets every tool that is missing and can be got. Resolves with the number that could not. */
async function fixTools(world: World, tools: readonly ToolInspection[]): Promise<number> {
  const display = createDisplay(world.stderr);
  const interruption = listenForInterruption(world, (text) => display.line(text));
  const provide = createProvisioner(world);
  let failures = 0;
  try {
    for (const { tool, found, wouldBeGot } of tools) {
      if (found !== null || wouldBeGot === null) continue;
      const options = {
        allowed: true,
        corednsVersion: DEFAULTS.corednsVersion,
        progress: provisionProgress(display, world.clock),
        signal: interruption.signal,
      };
      try {
        await provide(tool, options);
      } catch (error) {
        interruption.signal.throwIfAborted();
        display.line(messageOf(error));
        failures += 1;
      }
    }
  } finally {
    interruption.release();
    display.clear();
  }
  return failures;
}

const MARKS: Readonly<Record<CheckState, string>> = { ok: '✓', notice: '!', problem: '✗' };

function render(findings: readonly Finding[], columns: number, colours: boolean): string {
  const style = new Ansis(colours ? 1 : 0);
  const paint = { ok: style.green, notice: style.yellow, problem: style.red } as const;
  const width = Math.max(...findings.map(({ title }) => title.length));
  const indent = `\n${' '.repeat(width + 4)}`;
  return findings
    .map(({ title, state, found, advice }) => {
      const texts = [found, ...(advice === null ? [] : [`→ ${advice}`])];
      const lines = texts.flatMap((text) => wrapText(text, columns - width - 4));
      return `${paint[state](MARKS[state])} ${title.padEnd(width)}  ${lines.join(indent)}\n`;
    })
    .join('');
}

/** Exit status 0 if a run can be made, else 3. */
export async function doctorCommand(world: World, options: { fix: boolean; json: boolean }): Promise<number> {
  const inspect = () => inspectTools(world, { corednsVersion: DEFAULTS.corednsVersion });
  let tools = await inspect();
  if (options.fix) {
    await fixTools(world, tools);
    tools = await inspect();
  }
  const machine = await inspectMachine(world, { neededCpus: CPUS_NEEDED });
  const findings = [...tools.map(toolFinding), loaderFinding(tools), ...machine];
  const colours = world.stdout.isTerminal && (world.env.NO_COLOR ?? '') === '';
  world.stdout.write(
    options.json
      ? `${JSON.stringify(findings, null, 2)}\n`
      : render(findings, world.stdout.columns ?? 80, colours),
  );
  return findings.some(({ state }) => state === 'problem') ? EXIT_STATUS.environment : EXIT_STATUS.success;
}

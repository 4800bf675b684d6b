/** `bench doctor`: what this machine has and lacks; `--fix` installs missing tools. */

import { cannonVersion } from '@dinodns-bench/load';
import { EXIT_STATUS, messageOf } from '@dinodns-bench/program';
import { Ansis } from 'ansis';
import { type CheckState, inspectMachine, type MachineCheck } from '../doctor/inspect-machine.ts';
import { inspectTools, type ToolInspection } from '../doctor/inspect-tools.ts';
import { getTestPrograms, inspectTestPrograms, type TestProgram } from '../doctor/test-programs.ts';
import { listenForInterruption } from '../interruption.ts';
import { dnsperfProgram } from '../loaders/dnsperf/program.ts';
import { printJson } from '../output.ts';
import { createDisplay } from '../progress/display.ts';
import { provisionProgress } from '../progress/provision-progress.ts';
import { createProvisioner, type ProvideTool, type ProvisionOptions } from '../provision/provision.ts';
import { wrapText } from '../text.ts';
import type { World } from '../world.ts';

/** Server and loader of a run at tier 1 with one loader thread. */
const CPUS_NEEDED = 2;

function toolFinding(tool: ToolInspection): MachineCheck {
  const { name } = tool.program;
  const base = { name, title: name };
  if (tool.found !== null) {
    return { ...base, state: 'ok', found: `${tool.found.version}, ${tool.found.executable}`, advice: null };
  }
  const how =
    tool.installMethod === null
      ? tool.fix
      : `\`bench doctor --fix\` or the first run installs it: ${tool.installMethod}`;
  // Without dnsperf, the built-in loader is used.
  const needed = !tool.program.optional && tool.program !== dnsperfProgram;
  const state = needed && tool.installMethod === null ? 'problem' : 'notice';
  return { ...base, state, found: `missing${tool.program.optional ? ' (optional)' : ''}`, advice: how };
}

/** The loader that a run uses by default. */
function loaderFinding(tools: readonly ToolInspection[]): MachineCheck {
  const dnsperf = tools.find(({ program }) => program === dnsperfProgram);
  const builtin = `builtin ${cannonVersion()} (dnscannon)`;
  const base = { name: 'loader', title: 'loader', state: 'ok', advice: null } as const;
  if (dnsperf !== undefined && dnsperf.found !== null)
    return { ...base, found: `dnsperf ${dnsperf.found.version}; --loader builtin: ${builtin}` };
  return dnsperf !== undefined && dnsperf.installMethod !== null
    ? { ...base, found: `dnsperf, once it is installed; with --no-provision ${builtin}` }
    : { ...base, found: `${builtin}, because dnsperf cannot be installed` };
}

/** Calls `get` with what provisioning needs: a place for its progress, and a signal that Ctrl-C aborts. */
async function provisioning<T>(
  world: World,
  get: (provide: ProvideTool, options: ProvisionOptions, say: (line: string) => void) => Promise<T>,
): Promise<T> {
  const display = createDisplay(world.stderr);
  const say = (line: string) => display.line(line);
  const interruption = listenForInterruption(world, say);
  const options = {
    allowed: true,
    version: null,
    progress: provisionProgress(display, world.clock),
    signal: interruption.signal,
  };
  try {
    return await get(createProvisioner(world), options, say);
  } finally {
    interruption.release();
    display.clear();
  }
}

/** Installs every missing tool that can be installed; says why where it fails. */
async function fixTools(world: World, tools: readonly ToolInspection[]): Promise<void> {
  await provisioning(world, async (provide, options, say) => {
    for (const { program, found, installMethod } of tools) {
      if (found !== null || installMethod === null) continue;
      try {
        await provide(program, options);
      } catch (error) {
        options.signal.throwIfAborted();
        say(messageOf(error));
      }
    }
  });
}

function testFinding({ program, suite, found, packages }: TestProgram): MachineCheck {
  const advice = `\`bench doctor --fix --for tests\` gets it${packages.length === 0 ? '' : `: apt-get install ${packages.join(' ')}`}`;
  return {
    name: program,
    title: program,
    state: found === null ? 'problem' : 'ok',
    found: found ?? `missing, for \`pnpm test:${suite}\``,
    advice: found === null ? advice : null,
  };
}

/** What the suites of the tests need beyond the workspace. */
async function testFindings(world: World, fix: boolean): Promise<readonly MachineCheck[]> {
  let programs = await inspectTestPrograms(world);
  if (fix) {
    await provisioning(world, async (provide, options, say) => {
      for (const problem of await getTestPrograms(world, programs, provide, options)) say(problem);
    });
    programs = await inspectTestPrograms(world);
  }
  return programs.map(testFinding);
}

const MARKS: Readonly<Record<CheckState, string>> = { ok: '✓', notice: '!', problem: '✗' };

function render(findings: readonly MachineCheck[], columns: number, colours: boolean): string {
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

/** What a run needs, of tools and of the machine. */
async function runFindings(world: World, fix: boolean): Promise<readonly MachineCheck[]> {
  const inspect = () => inspectTools(world);
  let tools = await inspect();
  if (fix) {
    await fixTools(world, tools);
    tools = await inspect();
  }
  const machine = await inspectMachine(world, { neededCpus: CPUS_NEEDED });
  return [...tools.map(toolFinding), loaderFinding(tools), ...machine];
}

export interface DoctorOptions {
  /** What the machine is checked for: a run, or the tests of this workspace. */
  readonly for: 'run' | 'tests';
  readonly fix?: boolean;
  readonly json?: boolean;
}

/** Exit status 0 if a run is possible, or nothing is missing for the tests; else 3. */
export async function doctorCommand(world: World, options: DoctorOptions): Promise<number> {
  const findings = await (options.for === 'tests' ? testFindings : runFindings)(world, options.fix === true);
  const colours = world.stdout.isTerminal && (world.env.NO_COLOR ?? '') === '';
  if (options.json) printJson(world, findings);
  else world.stdout.write(render(findings, world.stdout.columns ?? 80, colours));
  return findings.some(({ state }) => state === 'problem') ? EXIT_STATUS.environment : EXIT_STATUS.success;
}

/** `bench servers`: the server kinds, and whether their programs are here. */
import { DEFAULTS } from '../config/settings.ts';
import { inspectTools, type ToolInspection } from '../doctor/inspect-tools.ts';
import { SERVER_KINDS } from '../servers/registry.ts';
import { wrapText } from '../text.ts';
import type { World } from '../world.ts';

/** In a few words: the installed version, how it will be installed, or what the user can do. */
export function availability(tool: ToolInspection | undefined): string {
  if (tool === undefined) return 'unknown';
  if (tool.found !== null) return `${tool.found.version} (${tool.found.source})`;
  return tool.installMethod === null
    ? `missing. ${tool.fix ?? tool.problem ?? ''}`
    : 'installed by the first run';
}

export async function serversCommand(world: World, options: { json: boolean }): Promise<number> {
  const tools = await inspectTools(world, { corednsVersion: DEFAULTS.corednsVersion });
  const rows = SERVER_KINDS.map((kind) => {
    const tool = kind.existing ? undefined : tools.find(({ program }) => program === kind.program);
    return {
      name: kind.name,
      title: kind.title,
      description: kind.description,
      available: tool?.found != null,
      canBeGot: tool?.installMethod != null,
      availability: kind.existing ? 'in the cluster' : availability(tool),
    };
  });
  if (options.json) {
    world.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  const columns = world.stdout.columns ?? 80;
  for (const { name, description, availability: here } of rows) {
    const text = wrapText(`${description}. ${here}`, columns - width - 2);
    world.stdout.write(`${name.padEnd(width)}  ${text.join(`\n${' '.repeat(width + 2)}`)}\n`);
  }
  return 0;
}

/** Finds or installs programs, each once. */
import type { ProvisionedTool } from '../results/record.ts';
import type { World } from '../world.ts';
import type { ProvideTool } from './provision.ts';

/** Provides programs for this machine. Calls for the same program at the same time share the work. */
export function createProvisioner(world: World): ProvideTool {
  const underWay = new Map<string, Promise<ProvisionedTool>>();
  return (program, options) => {
    const key = `${program.name} ${options.version} ${options.allowed}`;
    const sharing = underWay.get(key) ?? program.provide(world, options).finally(() => underWay.delete(key));
    underWay.set(key, sharing);
    return sharing;
  };
}

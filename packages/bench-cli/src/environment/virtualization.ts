/** What the machine runs on: a hypervisor, a container, or nothing. */

import { findExecutable } from '../machine/find-executable.ts';
import { readIfThere } from '../machine/proc-files.ts';
import { runToEnd } from '../process.ts';
import type { World } from '../world.ts';
import { hasHypervisorFlag } from './machine-files.ts';

/** Product and vendor names in DMI that identify hypervisors. */
const DMI_NAMES: readonly (readonly [RegExp, string])[] = [
  [/kvm|qemu/i, 'kvm'],
  [/amazon ec2/i, 'amazon'],
  [/google/i, 'google'],
  [/vmware/i, 'vmware'],
  [/virtualbox/i, 'oracle'],
  [/microsoft|hyper-v/i, 'microsoft'],
  [/xen/i, 'xen'],
];

async function fromDmi(world: World): Promise<string | null> {
  for (const file of ['product_name', 'sys_vendor', 'bios_vendor']) {
    const text = await readIfThere(world, `/sys/class/dmi/id/${file}`);
    const known = text === null ? undefined : DMI_NAMES.find(([pattern]) => pattern.test(text));
    if (known !== undefined) return known[1];
  }
  return null;
}

/** The name that `systemd-detect-virt` gives, if it is installed; `none` on bare metal; null if unknown. */
export async function detectVirtualization(world: World): Promise<string | null> {
  const detector = await findExecutable(world, 'systemd-detect-virt');
  if (detector !== null) {
    // Its exit status is 1 for `none`.
    const { stdout } = await runToEnd(world, [detector], { timeoutSeconds: 5 });
    if (/^[\w-]+$/.test(stdout.trim())) return stdout.trim();
  }
  const dmi = await fromDmi(world);
  if (dmi !== null) return dmi;
  const cpuinfo = await readIfThere(world, '/proc/cpuinfo');
  return cpuinfo !== null && hasHypervisorFlag(cpuinfo) ? 'unknown hypervisor' : null;
}

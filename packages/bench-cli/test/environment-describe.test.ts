import { usableCpus } from '@dinodns-bench/server-cluster/usable-cpus';
import { describe, expect, test } from 'vitest';
import { describeEnvironment } from '../src/environment/describe.ts';
import {
  hasHypervisorFlag,
  parseCount,
  parseCpuModel,
  parseLoadAverage,
  parseOsName,
} from '../src/environment/machine-files.ts';
import { detectVirtualization } from '../src/environment/virtualization.ts';
import { environmentSchema } from '../src/results/record.ts';
import { realWorld, type World } from '../src/world.ts';
import { worldWithFs } from './local-fixtures.ts';

/** The real world in which some files have another text. */
function worldWithFiles(texts: Readonly<Record<string, string>>): World {
  const { fs } = realWorld();
  return worldWithFs({
    readFile: ((path: string, encoding: 'utf8') =>
      texts[path] === undefined
        ? fs.readFile(path, encoding)
        : Promise.resolve(texts[path])) as World['fs']['readFile'],
  });
}

test('this machine is described as the record wants it', async () => {
  const environment = await describeEnvironment(realWorld());
  expect(environmentSchema.parse(environment)).toEqual(environment);
  expect(environment.nodeVersion).toMatch(/^\d+\.\d+\.\d+$/);
  expect(environment.socketReceiveBufferBytes?.default).toBeGreaterThan(0);
  expect(environment.git?.commit ?? '0'.repeat(40)).toMatch(/^[0-9a-f]{40}$/);
});

test('the CPUs of the record are those that may really be used, by quota and affinity', async () => {
  const environment = await describeEnvironment(realWorld());
  expect(environment.availableCpus).toBe(usableCpus().limit);
});

describe('files that describe the machine', () => {
  test('the name of the system may be quoted or not', () => {
    expect(parseOsName('NAME=x\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n')).toBe(
      'Debian GNU/Linux 12 (bookworm)',
    );
    expect(parseOsName('PRETTY_NAME=Alpine\n')).toBe('Alpine');
    expect(parseOsName('ID=x\n')).toBeNull();
  });

  test('the CPU has a name on x86-64 and numbers on arm64', () => {
    expect(parseCpuModel('processor\t: 0\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R) Processor\n')).toBe(
      'Intel(R) Xeon(R) Processor',
    );
    expect(parseCpuModel('processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n')).toBe(
      'implementer 0x41, part 0xd0c',
    );
    expect(parseCpuModel('')).toBeNull();
  });

  test('numbers are numbers', () => {
    expect(parseLoadAverage('0.94 0.51 0.20 2/141 15190\n')).toBe(0.94);
    expect(parseLoadAverage('')).toBeNull();
    expect(parseCount('212992\n')).toBe(212992);
    expect(parseCount(null)).toBeNull();
    expect(parseCount('many')).toBeNull();
  });
});

describe('virtualization without systemd', () => {
  const without = (texts: Readonly<Record<string, string>>): World => ({
    ...worldWithFiles({
      '/sys/class/dmi/id/product_name': '',
      '/sys/class/dmi/id/sys_vendor': '',
      '/sys/class/dmi/id/bios_vendor': '',
      ...texts,
    }),
    env: { PATH: '' },
  });

  test('is told from DMI', async () => {
    expect(await detectVirtualization(without({ '/sys/class/dmi/id/sys_vendor': 'QEMU\n' }))).toBe('kvm');
  });

  test('is told from the CPU if DMI says nothing, but not by which hypervisor', async () => {
    const cpuinfo = 'flags\t\t: fpu vme hypervisor lahf_lm\n';
    expect(await detectVirtualization(without({ '/proc/cpuinfo': cpuinfo }))).toBe('unknown hypervisor');
    expect(await detectVirtualization(without({ '/proc/cpuinfo': 'flags\t\t: fpu vme\n' }))).toBeNull();
    expect(hasHypervisorFlag('flags : hypervisors')).toBe(false);
  });
});

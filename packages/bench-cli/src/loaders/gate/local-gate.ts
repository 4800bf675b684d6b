/** The gate as a process of this machine. */
import { fileURLToPath } from 'node:url';
import { BenchError } from '../../errors.ts';
import type { World } from '../../world.ts';
import { type Gate, GateLog } from './gate.ts';

const PROGRAM = fileURLToPath(new URL('./gate-program.mjs', import.meta.url));

export async function openLocalGate(world: World, loaders: number): Promise<Gate> {
  const log = new GateLog();
  const running = await world.processes.start([world.processes.nodePath, PROGRAM], {
    env: { LOADERS: String(loaders), ADDRESS: '127.0.0.1' },
    onStdoutLine: (line) => log.hear(line),
  });
  running.exited.then(() =>
    log.fail(
      new BenchError('E_LOADER_FAILED', 'the gate of the loaders ended at once', {
        evidence: running.lastLines.slice(-10),
        fix: 'See its message above.',
      }),
    ),
  );
  return {
    ...(await log.listening),
    times: running.exited.then(() => log.times),
    close: async () => {
      running.kill('SIGKILL');
      await running.exited;
    },
  };
}

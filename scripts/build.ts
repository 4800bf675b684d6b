/**
 * Builds the package of the current folder: `src` becomes `dist`, TypeScript compiled and everything else copied.
 * The new folder replaces the old one only when it is complete, so an interrupted build never leaves half of one.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

function build(staging: string): boolean {
  const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', staging], {
    stdio: 'inherit',
  });
  if (status !== 0) return false;
  for (const file of globSync('**/*.*', { cwd: 'src', exclude: ['**/*.ts'] })) {
    mkdirSync(join(staging, dirname(file)), { recursive: true });
    copyFileSync(join('src', file), join(staging, file));
  }
  rmSync('dist', { recursive: true, force: true });
  renameSync(staging, 'dist');
  return true;
}

const staging = `.dist-${process.pid}`;
try {
  process.exitCode = build(staging) ? 0 : 1;
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/** `dinodns-server`: serves generated zones with DinoDNS. See `command-line.ts` for the flags. */
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { reportError } from '@dinodns-bench/program';
import { frameworkOf, useFramework } from './framework/choose.ts';

// The cache halves the CPU time of a start, including that of a replacement worker. It lives with the user's other
// caches; if that directory is not writable, Node.js runs without it.
enableCompileCache(
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dinodns-bench', 'node-compile-cache'),
);
const args = process.argv.slice(2);
const framework = frameworkOf(args);
try {
  // Before anything imports the framework.
  if (framework !== undefined) useFramework(framework);
} catch (error) {
  process.exit(reportError(error, 'dinodns-server', process));
}
const { main } = await import('./main.ts');
await main(args);

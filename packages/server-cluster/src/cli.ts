/** `dinodns-server`: serves generated zones with DinoDNS. See `command-line.ts` for the flags. */
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Starting, also of a worker that replaces another, takes less than half of the CPU time with it. It lies with
// the user's other caches; where it cannot be written, Node.js goes without.
enableCompileCache(
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dinodns-bench', 'node-compile-cache'),
);
const { main } = await import('./main.ts');
await main(process.argv.slice(2));

/** `dinodns-server`: serves generated zones with DinoDNS. See `command-line.ts` for the flags. */
import { reportError } from '@dinodns-bench/program';
import { frameworkOf, useFramework } from './framework/choose.ts';

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

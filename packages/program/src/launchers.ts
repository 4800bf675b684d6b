/**
 * The programs between a user and this process: npx, pnpm, and the shell scripts that they start. None of them
 * reliably forwards SIGTERM, so stopping `npx pnpm server` would leave the server running. This detects that one of
 * them has ended. Linux only; elsewhere nothing is detected.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const POLL_MILLISECONDS = 500;

const PACKAGE_MANAGER = /^(?:npm|npx|pnpm|pnpx|corepack)(?:-cli)?(?:\.[cm]?js)?$/;

/** True for the process of npx, npm or pnpm itself; npm names its process `npm exec …`. */
function isPackageManager(words: readonly string[]): boolean {
  const [program = '', script = ''] = words;
  return [program.split(' ')[0] ?? '', script].some((word) => PACKAGE_MANAGER.test(basename(word)));
}

/** True for the shell of a script in `node_modules/.bin`, or of a script of package.json. */
function isScriptShell([program = '', first = '']: readonly string[]): boolean {
  return /^(?:ba|da)?sh$/.test(basename(program)) && (first === '-c' || first.includes('node_modules/.bin/'));
}

function readProcess(pid: number): { readonly parent: number; readonly words: string[] } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces and parentheses itself (proc(5)).
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return { parent, words };
  } catch {
    return null;
  }
}

/** Process ids from this one up to the topmost launcher without a gap; only this one if nothing launched it. */
export function launcherChain(): number[] {
  const chain = [process.pid];
  let sure = 1;
  for (let pid = process.ppid; pid > 1; ) {
    const found = readProcess(pid);
    if (found === null) break;
    const manager = isPackageManager(found.words);
    if (!manager && !isScriptShell(found.words)) break;
    chain.push(pid);
    // A shell above all package managers is the user's own script.
    if (manager) sure = chain.length;
    pid = found.parent;
  }
  return chain.slice(0, sure);
}

/** Calls `handler` once when a launcher has ended, until the returned function is called. Keeps nothing alive. */
export function onLauncherDeath(handler: () => void): () => void {
  const chain = launcherChain();
  if (chain.length === 1) return () => undefined;
  const isWhole = () =>
    chain.every((pid, index) => {
      const above = chain[index + 1];
      return above === undefined || readProcess(pid)?.parent === above;
    });
  const timer = setInterval(() => {
    if (isWhole()) return;
    clearInterval(timer);
    handler();
  }, POLL_MILLISECONDS).unref();
  return () => clearInterval(timer);
}

/**
 * Whether a version of CoreDNS exists, by the Go module proxy, through the Go tool or over HTTP, or by its release. The version itself
 * is asked for: what a proxy lists, and what it has, may be short.
 */
import { findExecutable } from '../../machine/find-executable.ts';
import { runToEnd } from '../../process.ts';
import { DownloadError, downloadText } from '../../provision/download.ts';
import type { VersionAnswer } from '../../provision/versions.ts';
import type { World } from '../../world.ts';
import { COREDNS_MODULE, corednsGoTarget } from './go-install.ts';
import { isReleased } from './release.ts';

/** The answers are short; a proxy that takes longer is not there. */
const ANSWER_SECONDS = 5;

const GO_PROXY = 'https://proxy.golang.org';

/** What a proxy says of a version that it does not have, and whoever else it may ask neither (Go modules reference). */
const DENIED_STATUS: ReadonlySet<number | null> = new Set([404, 410]);
const DENIED = /: (?:404 Not Found|410 Gone)|unknown revision|no matching versions/;

/** The proxy has it or not, and does not hand it out: then the Go tool cannot build it. */
const REFUSED = /reading \S+: (?:401|403|451) .+/;

/** Null if Go is missing. */
async function askGo(world: World, ...words: readonly string[]) {
  const go = await findExecutable(world, 'go');
  if (go === null) return null;
  return runToEnd(world, [go, 'list', '-m', ...words], {
    // Outside every module and workspace, because Go would use its go.mod.
    cwd: '/',
    env: { GOWORK: 'off', GOFLAGS: '' },
    timeoutSeconds: ANSWER_SECONDS,
  });
}

/** The first proxy of GOPROXY that is an address. */
function proxyOf({ env }: World): string {
  const first = (env.GOPROXY ?? '').split(/[,|]/).find((entry) => /^https?:/.test(entry));
  return (first ?? GO_PROXY).replace(/\/+$/, '');
}

/** A text of the proxy, or the status with which it refused; null for neither. Rejects only when aborted. */
async function askProxy(world: World, path: string, signal: AbortSignal): Promise<string | number | null> {
  try {
    return await downloadText(world, `${proxyOf(world)}/${COREDNS_MODULE}/@v/${path}`, { signal });
  } catch (error) {
    if (error instanceof DownloadError) return error.status;
    throw error;
  }
}

async function find(
  world: World,
  version: string,
  signal: AbortSignal,
): Promise<Pick<CorednsAnswer, 'known' | 'refusal'>> {
  const said = await askGo(world, corednsGoTarget(version));
  if (said?.code === 0) return { known: true, refusal: null };
  const isDenied = said !== null && DENIED.test(said.stderr);
  const answer = isDenied ? 404 : await askProxy(world, `v${encodeURIComponent(version)}.info`, signal);
  if (typeof answer === 'string') return { known: true, refusal: null };
  const refusal = REFUSED.exec(said?.stderr ?? '')?.[0] ?? null;
  if (DENIED_STATUS.has(answer)) return { known: await isReleased(world, version, signal), refusal: null };
  const isRefused = refusal !== null && !(await isReleased(world, version, signal));
  return { known: null, refusal: isRefused ? refusal : null };
}

/** Without a leading `v`; as many as are listed. */
async function listed(world: World, signal: AbortSignal): Promise<readonly string[]> {
  const said = await askGo(world, '-versions', COREDNS_MODULE);
  const text = said?.code === 0 ? said.stdout : await askProxy(world, 'list', signal);
  const words = typeof text === 'string' ? text.trim().split(/\s+/) : [];
  return words.flatMap((word) => (word.startsWith('v') ? [word.slice(1)] : []));
}

export interface CorednsAnswer extends VersionAnswer {
  /** Why it can be neither built nor downloaded though nobody denies that it exists; null where it may be had. */
  readonly refusal: string | null;
}

/** Takes seconds at most. Rejects only when aborted. */
export async function corednsVersion(
  world: World,
  version: string,
  signal: AbortSignal,
): Promise<CorednsAnswer> {
  const found = await find(world, version, signal);
  const isLost = found.known === false || found.refusal !== null;
  return { ...found, others: isLost ? await listed(world, signal) : [] };
}

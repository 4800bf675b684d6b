/** Which versions of CoreDNS exist: what the Go module proxy lists, through the Go tool or over HTTP. */
import { findExecutable } from '../../machine/find-executable.ts';
import { runToEnd } from '../../process.ts';
import { DownloadError, downloadText } from '../../provision/download.ts';
import type { World } from '../../world.ts';
import { COREDNS_MODULE } from './go-install.ts';

/** The list is short; a proxy that takes longer is not there. */
const LIST_SECONDS = 5;

const GO_PROXY = 'https://proxy.golang.org';

const withoutPrefix = (versions: readonly string[]) =>
  versions.flatMap((version) => (version.startsWith('v') ? [version.slice(1)] : []));

/** Null if Go is missing or lists nothing. */
async function listedByGo(world: World): Promise<readonly string[] | null> {
  const go = await findExecutable(world, 'go');
  if (go === null) return null;
  const { code, stdout } = await runToEnd(world, [go, 'list', '-m', '-versions', COREDNS_MODULE], {
    // Outside every module and workspace, because Go would use its go.mod.
    cwd: '/',
    env: { GOWORK: 'off', GOFLAGS: '' },
    timeoutSeconds: LIST_SECONDS,
  });
  const [, ...versions] = stdout.trim().split(/\s+/);
  return code === 0 && versions.length > 0 ? withoutPrefix(versions) : null;
}

/** The first proxy of GOPROXY that is an address. */
function proxyOf({ env }: World): string {
  const first = (env.GOPROXY ?? '').split(/[,|]/).find((entry) => /^https?:/.test(entry));
  return (first ?? GO_PROXY).replace(/\/+$/, '');
}

async function listedByProxy(world: World, signal: AbortSignal): Promise<readonly string[] | null> {
  try {
    const text = await downloadText(world, `${proxyOf(world)}/${COREDNS_MODULE}/@v/list`, { signal });
    return withoutPrefix(text.split('\n'));
  } catch (error) {
    if (error instanceof DownloadError) return null;
    throw error;
  }
}

/** Without a leading `v`; null if nobody can be asked within a few seconds. Rejects only when aborted. */
export async function corednsVersions(world: World, signal: AbortSignal): Promise<readonly string[] | null> {
  return (await listedByGo(world)) ?? listedByProxy(world, signal);
}

/** CoreDNS from the archive of its official release, checked against the checksum published beside it. */
import { join } from 'node:path';
import { runToEnd } from '../../process.ts';
import { withStaging } from '../../provision/cache.ts';
import { DownloadError, downloadFile, downloadText } from '../../provision/download.ts';
import type { Attempt, VersionedOptions } from '../../provision/provision.ts';
import type { World } from '../../world.ts';
import { keepCoredns } from './cache.ts';

const OFFICIAL_RELEASES = 'https://github.com/coredns/coredns/releases/download';

/** Go's names for the architectures that CoreDNS is released for and this project supports. */
const RELEASED_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Address of the archive; `DINODNS_BENCH_COREDNS_RELEASES` names a mirror of the release directory. */
export function corednsArchiveUrl(world: World, version: string): string | null {
  const architecture = RELEASED_ARCHITECTURES[world.machine.architecture];
  if (architecture === undefined || world.machine.platform !== 'linux') return null;
  const base = (world.env.DINODNS_BENCH_COREDNS_RELEASES ?? OFFICIAL_RELEASES).replace(/\/+$/, '');
  return `${base}/v${version}/coredns_${version}_linux_${architecture}.tgz`;
}

/** Whether its archive can be had. Rejects only when aborted. */
export async function isReleased(world: World, version: string, signal: AbortSignal): Promise<boolean> {
  const url = corednsArchiveUrl(world, version);
  if (url === null) return false;
  try {
    await downloadText(world, `${url}.sha256`, { signal });
    return true;
  } catch (error) {
    if (error instanceof DownloadError) return false;
    throw error;
  }
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

async function fetchInto(
  world: World,
  url: string,
  staging: string,
  { version, progress, signal }: VersionedOptions,
): Promise<Attempt> {
  progress.step(`Getting CoreDNS ${version} from ${url}`);
  // The small file first: it shows at once whether releases can be reached at all.
  const published = /\b[0-9a-f]{64}\b/i.exec(await downloadText(world, `${url}.sha256`, { signal }))?.[0];
  if (published === undefined) return { problem: `${url}.sha256 contains no SHA-256 checksum` };
  const archive = join(staging, 'coredns.tgz');
  const { bytes, sha256 } = await downloadFile(world, url, archive, {
    signal,
    onBytes: (received, total) => {
      progress.detail(total === null ? megabytes(received) : `${megabytes(received)} of ${megabytes(total)}`);
    },
  });
  if (sha256 !== published.toLowerCase()) {
    return { problem: `${url} has SHA-256 ${sha256}, but ${published.toLowerCase()} is published: not used` };
  }
  const { code, stderr } = await runToEnd(world, ['tar', '-xzf', archive, '-C', staging, 'coredns'], {
    timeoutSeconds: 60,
  });
  if (code !== 0) return { problem: `${url} cannot be unpacked (${stderr.trim().split('\n').at(-1)})` };
  return keepCoredns(world, join(staging, 'coredns'), version, {
    source: 'release-archive',
    origin: `${url} (${megabytes(bytes)}, SHA-256 ${sha256})`,
  });
}

/** Downloads, checks and caches it. Rejects only if the cache cannot be written, or when aborted. */
export async function corednsFromRelease(world: World, options: VersionedOptions): Promise<Attempt> {
  const url = corednsArchiveUrl(world, options.version);
  if (url === null) {
    const { platform, architecture } = world.machine;
    return { problem: `there is none for ${platform} on ${architecture}` };
  }
  return withStaging(world, async (staging) => {
    try {
      return await fetchInto(world, url, staging, options);
    } catch (error) {
      if (error instanceof DownloadError) return { problem: error.message, reason: error.reason };
      throw error;
    }
  });
}

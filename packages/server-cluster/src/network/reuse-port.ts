/** Whether the kernel can spread the load over several sockets of one port. */

/**
 * SO_REUSEPORT with balancing is in these kernels (Node.js documentation of `reusePort`); elsewhere the
 * option is an error, and the workers of a cluster share the primary's socket instead.
 */
const BALANCING_PLATFORMS: readonly NodeJS.Platform[] = ['linux', 'freebsd', 'sunos', 'aix'];

export function canReusePort(platform: NodeJS.Platform = process.platform): boolean {
  return BALANCING_PLATFORMS.includes(platform);
}

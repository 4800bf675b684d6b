/** Whether the kernel can spread the load over several sockets of one port. */

/**
 * These kernels balance over SO_REUSEPORT sockets (Node.js documentation of `reusePort`). Elsewhere the option is
 * an error, and cluster workers share the primary's socket instead.
 */
const BALANCING_PLATFORMS: readonly NodeJS.Platform[] = ['linux', 'freebsd', 'sunos', 'aix'];

export function canReusePort(platform: NodeJS.Platform = process.platform): boolean {
  return BALANCING_PLATFORMS.includes(platform);
}

/** The line with which a DinoDNS server says that it is ready. Pure. */

/** Workers of `{"ready":true,"workers":2,…}`; null for any other line. */
export function parseReadyLine(line: string): number | null {
  if (!line.startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(line);
    const isReady = typeof value === 'object' && value !== null && 'ready' in value && value.ready === true;
    if (!isReady || !('workers' in value)) return null;
    const { workers } = value;
    return typeof workers === 'number' && Number.isInteger(workers) && workers > 0 ? workers : null;
  } catch {
    return null;
  }
}

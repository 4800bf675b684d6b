/** The kernel's counter of SYN and SYN-ACK packets that it repeated: TcpExtTCPSynRetrans, one for each network namespace. */

/** Its value in the text of /proc/net/netstat; null if the kernel does not have it. */
export function synRepeatsIn(netstat: string): number | null {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.trim().split(/\s+/));
  const at = names.indexOf('TCPSynRetrans');
  const value = at === -1 ? undefined : values[at];
  return value === undefined ? null : Number(value);
}

/** What a capture keeps: packets that begin TCP connections to a port, and DNS. */

/** Flags are at 13 in the TCP header; libpcap's `tcp[…]` reads IPv4 only, and the header of IPv6 is 40 bytes long. */
const IS_SYN = '(tcp[13] & 2 != 0 or (ip6 and ip6[6] == 6 and ip6[53] & 2 != 0))';

/** A filter of libpcap (pcap-filter(7)). */
export function captureFilter(port: number): string {
  return `(tcp port ${port} and ${IS_SYN}) or port 53`;
}

/** Enough for the longest name and its headers. */
const SNAP_BYTES = 400;

/** Arguments of tcpdump: it writes the capture to standard output and says on standard error when it listens. */
export function tcpdumpArguments(networkInterface: string, port: number): readonly string[] {
  return [
    '-i',
    networkInterface,
    // Not promiscuous, packet by packet: what was seen is in the file at once.
    '-n',
    '-p',
    '-U',
    '--immediate-mode',
    '-s',
    String(SNAP_BYTES),
    '-w',
    '-',
    captureFilter(port),
  ];
}

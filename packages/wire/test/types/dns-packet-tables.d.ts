/** The tables of dns-packet, of which `@types/dns-packet` says nothing. */
declare module 'dns-packet/classes.js' {
  const table: { toString(number: number): string | null };
  export default table;
}
declare module 'dns-packet/rcodes.js' {
  const table: { toString(number: number): string };
  export default table;
}
declare module 'dns-packet/types.js' {
  const table: { toString(number: number): string };
  export default table;
}

/** The package has no types of its own. */
declare module 'node-api-headers' {
  export const include_dir: string;
}

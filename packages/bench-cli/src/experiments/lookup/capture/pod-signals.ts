/** How the containers of a sampler pod tell each other how far they are: by files in a directory that they share. */

export const SHARED_DIRECTORY = '/shared';

export const SIGNALS = {
  /** The sampler can begin. */
  prepared: 'prepared',
  /** The capture sees packets. */
  capturing: 'capturing',
  /** The capture could not start. */
  failed: 'capture-failed',
  /** The last sample has ended. */
  sampled: 'sampled',
} as const;

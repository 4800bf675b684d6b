/** The largest delay of an upstream: longer than any resolver waits. */
export const MAX_DELAY_SECONDS = 10;

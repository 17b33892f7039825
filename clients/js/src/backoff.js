/** How many times a lost connection is tried again before the client falls back to polling. */
export const MOST_RETRIES = 5

/** How often the client asks where no stream can be held, in milliseconds. */
export const POLL_MS = 30000

/**
 * How long to wait after so many failures in a row: 1, 2, 4, 8, 16 s.
 * @param {number} failures From 1.
 * @returns {number} In milliseconds.
 */
export function backoff(failures) {
  return 1000 * 2 ** (Math.min(failures, MOST_RETRIES) - 1)
}

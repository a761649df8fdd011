/** How long a pod may take to take a connection. */
export const CONNECT_MS = 5000
/** How long a request may be under way without a byte in either direction. */
export const IDLE_MS = 10 * 60_000
/** The same for connections that became something else, such as WebSockets. */
export const UPGRADED_IDLE_MS = 3_600_000
/** How many pods a request is offered to. */
export const MOST_TRIES = 3
/** How long a client may take for the headers of a request. */
export const HEADERS_MS = 15_000
/** How long a connection may wait for its next request. */
export const KEEP_ALIVE_MS = 60_000
export const MOST_HEADER_BYTES = 32 * 1024
/** How often it is looked which are late. */
export const CHECK_MS = 2500
/**
 * Of clients, for each of the two ports; those with a request are kept. The share of one address is large: a balancer before the machine can be the only
 * address there is.
 */
export const CONNECTIONS = { all: 2000, replaceable: 1000, perAddress: 1000 }
/** To one pod, that wait for their next request. */
export const MOST_KEPT_PER_POD = 16
/** How long those wait; shorter than what most servers allow. */
export const KEPT_MS = 4000

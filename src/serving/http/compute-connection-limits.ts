import type { ConnectionLimits } from '../../protocols/streams/connection-limits.ts'

// Enough for every client that a node has; each costs some tens of kilobytes.
const MOST = 4000
// There are three ports, and a stream into a container has a second connection to the runtime: so at least half of the descriptors are left
// for the runtime, the API server, child processes and files.
const SHARE = 1 / 8
const FEWEST = 4
// One in its handshake costs up to 45 kB, most of it in OpenSSL: so they cost ten megabytes at most.
const MOST_UNAUTHENTICATED = 250

/** What one port may have where the process may open so many files. */
export function computeConnectionLimits(openFiles: number): ConnectionLimits {
  const all = Math.max(FEWEST, Math.min(MOST, Math.floor(openFiles * SHARE)))
  return { all, replaceable: Math.max(FEWEST, Math.min(MOST_UNAUTHENTICATED, Math.floor(all / 4))) }
}

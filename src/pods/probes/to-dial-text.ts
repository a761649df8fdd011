// The words of the system for what goes wrong with a connection; users search for them.
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  ENOTFOUND: 'lookup: no such host',
  EAI_AGAIN: 'lookup: temporary failure in name resolution',
}

/** What went wrong with a connection, as users of Kubernetes know it. */
export function toDialText(error: unknown, address: string): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  const words = typeof code === 'string' ? WORDS[code] : undefined
  return words === undefined ? String(message ?? error) : `dial tcp ${address}: ${words}`
}

/** "host:port", as it stands in URLs. */
export function toAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

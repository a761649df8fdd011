/** Whether a peer is connected, and when that changes. */
export interface GrpcConnection {
  readonly connected: boolean
  readonly closed: boolean
  /** Resolves at the next change of any kind; while a caller waits, the connection is tried again and again. */
  nextChange(signal: AbortSignal): Promise<void>
}

/** Resolves as soon as the peer is connected. */
export async function waitForReady(connection: GrpcConnection, signal: AbortSignal): Promise<void> {
  while (!connection.connected) await connection.nextChange(signal)
}

/** Reports when the peer came and went, starting with how it is now. Ends when the signal aborts or the connection is closed. */
export async function runConnectionWatch(
  deps: { readonly connection: GrpcConnection; readonly onChange: (connected: boolean) => void },
  signal: AbortSignal,
): Promise<void> {
  const { connection, onChange } = deps
  let reported: boolean | undefined
  while (!signal.aborted) {
    const { connected, closed } = connection
    if (connected !== reported) onChange(connected)
    reported = connected
    if (closed) return
    try {
      await connection.nextChange(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}

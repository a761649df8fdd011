import { connect } from 'node:net'
import { checkGrpcHealth } from '../../protocols/grpc/check-grpc-health.ts'
import { httpGet } from '../../protocols/http/http-get.ts'

/** How the agent reaches what runs in pods. */
export interface PodNetwork {
  readonly httpGet: typeof httpGet
  /** Connects, and closes again without a word; fails when there is no connection. */
  readonly dial: (target: { readonly host: string; readonly port: number }, signal: AbortSignal) => Promise<void>
  readonly checkGrpcHealth: typeof checkGrpcHealth
}

/** That of this machine. */
export const podNetwork: PodNetwork = { httpGet, dial, checkGrpcHealth }

async function dial(
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  const socket = connect({ host, port, signal })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve)
      // Stays: what goes wrong after the connection was made has no other listener.
      socket.on('error', reject)
    })
  } finally {
    socket.destroy()
  }
}

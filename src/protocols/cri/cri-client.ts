import type { Clock } from '../../base/async/clock.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { bindCalls } from './bind-calls.ts'
import { listContainerdDownloads } from './containerd/containerd-downloads.ts'
import type { Download } from './containerd/containerd-downloads.ts'
import { subscribeContainerdEvents } from './containerd/containerd-events.ts'
import { deleteContainerdTask, hasContainerdContainer } from './containerd/containerd-tasks.ts'
import { criServices } from './cri-methods.ts'
import { GrpcChannel } from '../grpc/grpc-channel.ts'
import { parseEndpoint } from './parse-endpoint.ts'
import type { CriCallSettings } from './bind-calls.ts'
import type { CriCalls } from './cri-calls.ts'
import type { Envelope } from './generated/containerd-events.ts'
import type { GrpcConnection } from '../grpc/grpc-connection.ts'

/** The runtime as the agent sees it: every CRI call, and the connection they go over. */
export interface CriClient extends CriCalls, Disposable {
  readonly connection: GrpcConnection
  /** containerd's own events; other runtimes answer Unimplemented. */
  containerdEvents(filters: readonly string[], signal: AbortSignal): AsyncIterable<Envelope>
  /** What containerd downloads now; other runtimes answer Unimplemented. */
  containerdDownloads(signal: AbortSignal): Promise<readonly Download[]>
  /** Has containerd itself a record or a task of this container or sandbox? Other runtimes answer Unimplemented. */
  containerdHas(id: string, signal: AbortSignal): Promise<boolean>
  /** Ends and removes the task of a container that CRI has lost; other runtimes answer Unimplemented. */
  containerdDeleteTask(request: { readonly containerId: string }, signal: AbortSignal): Promise<void>
  /** Ends the connections. May be called again. */
  close(): void
}

/** What the client needs to know. */
export interface CriClientOptions extends CriCallSettings {
  readonly runtimeEndpoint: string
  /** The runtime's own when absent. */
  readonly imageEndpoint?: string | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** Builds the client; it connects with the first call. */
export function createCriClient(options: CriClientOptions): CriClient {
  const { runtimeEndpoint, imageEndpoint = runtimeEndpoint } = options
  const runtime = openChannel(runtimeEndpoint, options)
  const image = imageEndpoint === runtimeEndpoint ? runtime : openChannel(imageEndpoint, options)
  const close = () => {
    runtime.close()
    image.close()
  }
  return {
    ...bindCalls(criServices.runtime, runtime, options),
    ...bindCalls(criServices.image, image, options),
    connection: runtime,
    containerdEvents: (filters, signal) => subscribeContainerdEvents(runtime, filters, signal),
    containerdDownloads: (signal) => listContainerdDownloads(image, signal),
    containerdHas: (id, signal) => hasContainerdContainer(runtime, id, signal),
    containerdDeleteTask: ({ containerId }, signal) => deleteContainerdTask(runtime, containerId, signal),
    close,
    [Symbol.dispose]: close,
  }
}

function openChannel(text: string, { clock, log }: CriClientOptions): GrpcChannel {
  const endpoint = parseEndpoint(text)
  if (endpoint.bare) log.warn('runtime endpoint without unix:// is deprecated', { endpoint: text })
  return new GrpcChannel({ target: `unix://${endpoint.socketPath}`, clock })
}

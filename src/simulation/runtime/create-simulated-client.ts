import { DeadlineError } from '../../base/async/abort-errors.ts'
import type { Clock } from '../../base/async/clock.ts'
import { withDeadline } from '../../base/async/deadline.ts'
import { Wakeup } from '../../base/async/wakeup.ts'
import { bindCalls } from '../../protocols/cri/bind-calls.ts'
import type { CriCallSettings } from '../../protocols/cri/bind-calls.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import type { CriClient } from '../../protocols/cri/cri-client.ts'
import { criServices } from '../../protocols/cri/cri-methods.ts'
import type { CriMethod } from '../../protocols/cri/cri-methods.ts'
import type { ContainerEventResponse } from '../../protocols/cri/generated/runtime-v1.ts'
import { GrpcCallError } from '../../protocols/grpc/grpc-call-error.ts'
import type { CallChannel } from '../../protocols/grpc/grpc-channel.ts'
import type { SimulatedCri } from './simulated-cri.ts'

interface ClientDeps extends CriCallSettings {
  readonly clock: Clock
}

/**
 * The client of a simulated runtime in the same process: the calls, deadlines and errors are those of every runtime, and only the wire
 * is left out. It has CRI's own events and nothing of containerd's.
 */
export function createSimulatedClient(cri: SimulatedCri, deps: ClientDeps): CriClient {
  const channel = createChannel(cri, deps)
  const absent = (method: string) => new CriCallError(method, 'Unimplemented', `unknown method ${method}`)
  const close = () => {}
  return {
    ...bindCalls(criServices.runtime, channel, deps),
    ...bindCalls(criServices.image, channel, deps),
    connection: { connected: true, closed: false, nextChange: (signal) => untilAborted(signal) },
    // oxlint-disable-next-line require-yield -- it has no events
    containerdEvents: async function* () {
      throw absent('containerdEvents')
    },
    containerdDownloads: async () => {
      throw absent('containerdDownloads')
    },
    containerdHas: async () => {
      throw absent('containerdHas')
    },
    containerdDeleteTask: async () => {
      throw absent('containerdDeleteTask')
    },
    close,
    [Symbol.dispose]: close,
  }
}

function createChannel(cri: SimulatedCri, { clock }: ClientDeps): CallChannel {
  return {
    async unary<Response>(
      method: { readonly path: string },
      request: unknown,
      { timeoutMs }: { readonly timeoutMs?: number | undefined },
      signal: AbortSignal,
    ): Promise<Response> {
      signal.throwIfAborted()
      const name = nameOf(method)
      const call = (s: AbortSignal) => cri.answer(name, request as object, s) as Promise<Response>
      if (timeoutMs === undefined) return await call(signal)
      try {
        return await withDeadline({ clock, ms: timeoutMs, what: name }, call, signal)
      } catch (error) {
        if (!(error instanceof DeadlineError)) throw error
        const detail = `no answer after ${timeoutMs / 1000} s`
        throw new GrpcCallError({ method: name, code: 'DeadlineExceeded', detail }, { cause: error })
      }
    },
    async *stream<Response>(
      method: { readonly path: string },
      request: unknown,
      _: object,
      signal: AbortSignal,
    ): AsyncGenerator<Response, void> {
      const name = nameOf(method)
      if (name === 'getContainerEvents') yield* listen(cri, clock, signal) as AsyncGenerator<Response, void>
      else yield (await cri.answer(name, request as object, signal)) as Response
    },
  }
}

/** Events wait for their reader; a runtime in the same process makes few of them at once. */
async function* listen(
  cri: SimulatedCri,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ContainerEventResponse, void> {
  const waiting: ContainerEventResponse[] = []
  const wakeup = new Wakeup()
  const end = cri.events.onCri((event) => {
    waiting.push(event)
    wakeup.wake()
  })
  try {
    for (;;) {
      yield* waiting.splice(0)
      await wakeup.wait({ clock, ms: undefined }, signal)
    }
  } finally {
    end()
  }
}

/** "/runtime.v1.RuntimeService/ListContainers" is listContainers. */
function nameOf({ path }: { readonly path: string }): CriMethod {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}` as CriMethod
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

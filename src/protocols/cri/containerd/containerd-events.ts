import { EventsDefinition } from '../generated/containerd-events.ts'
import { toCriCallError } from '../cri-call-error.ts'
import { toGrpcMethod } from '../../grpc/grpc-method.ts'
import type { Envelope } from '../generated/containerd-events.ts'
import type { GrpcChannel } from '../../grpc/grpc-channel.ts'

// All that containerd holds for Kubernetes is in this namespace.
export const KUBERNETES_NAMESPACE = 'k8s.io'

const subscribe = toGrpcMethod(EventsDefinition.fullName, EventsDefinition.methods.subscribe)

/** containerd's own event stream, which older versions offer in place of CRI's. */
export async function* subscribeContainerdEvents(
  channel: GrpcChannel,
  filters: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Envelope, void> {
  const headers = { 'containerd-namespace': KUBERNETES_NAMESPACE }
  try {
    yield* channel.stream(subscribe, { filters }, { headers }, signal)
  } catch (error) {
    throw signal.aborted ? signal.reason : toCriCallError('containerdEvents', error)
  }
}

import { toCriCallError } from '../cri-call-error.ts'
import { KUBERNETES_NAMESPACE } from './containerd-events.ts'
import { ContentDefinition } from '../generated/containerd-content.ts'
import type { GrpcChannel } from '../../grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../grpc/grpc-method.ts'

/** A part of an image on its way: a layer, a configuration or a manifest. */
export interface Download {
  readonly ref: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly doneBytes: number
  /** 0 when unknown. */
  readonly totalBytes: number
}

const listStatuses = toGrpcMethod(ContentDefinition.fullName, ContentDefinition.methods.listStatuses)

/** Everything that containerd downloads now for Kubernetes. */
export async function listContainerdDownloads(channel: GrpcChannel, signal: AbortSignal): Promise<readonly Download[]> {
  const headers = { 'containerd-namespace': KUBERNETES_NAMESPACE }
  try {
    const { statuses } = await channel.unary(listStatuses, { filters: [] }, { headers }, signal)
    return statuses.map(({ ref, startedAt, offset, total }) => ({
      ref,
      startedAt: Number(startedAt?.seconds ?? 0n) * 1000 + (startedAt?.nanos ?? 0) / 1e6,
      doneBytes: Number(offset),
      totalBytes: Number(total),
    }))
  } catch (error) {
    throw signal.aborted ? signal.reason : toCriCallError('containerdDownloads', error)
  }
}

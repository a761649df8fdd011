import { podLogName } from '../pod/pod.ts'
import type { Pod } from '../pod/pod.ts'
import type { ObjectReference } from '../generated/core-v1.ts'
import type { Logger } from '../../base/telemetry/logger.ts'

/** Events for the users of a pod, with Kubernetes' own reasons. */
export interface PodEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The part of the spec it is about, such as spec.containers{web}. */
  readonly fieldPath?: string
  /** Another object that it is about, such as a claim of the pod. */
  readonly about?: ObjectReference | undefined
  /** What programs want to know of it. */
  readonly annotations?: Readonly<Record<string, string>>
}

/** Where events go. */
export interface PodEvents {
  record(pod: Pod, event: PodEvent): void
}

/** Without an API server events are log lines. */
export function createLoggedPodEvents(log: Logger): PodEvents {
  return {
    record(pod, { type, reason, message, fieldPath, about }) {
      const fields = { pod: podLogName(pod), uid: pod.metadata.uid, reason, message, fieldPath, about: about?.name }
      if (type === 'Warning') log.warn('event', fields)
      else log.info('event', fields)
    },
  }
}

import type { Container, EphemeralContainer, LifecycleHandler } from '../../../model/generated/core-v1.ts'
import type { Pod } from '../../../model/pod/pod.ts'

/** A hook and the container it is for. */
export interface HookRequest {
  readonly pod: Pod
  readonly container: Container | EphemeralContainer
  readonly containerId: string
  readonly podIp: string | undefined
  readonly name: 'postStart' | 'preStop'
  readonly handler: LifecycleHandler
  /** For how long an earlier agent, which was killed, let it run: a sleep needs only the rest. */
  readonly hasRunMs?: number
}

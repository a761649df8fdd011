import { containerHash } from '../../../model/pod/container-hash.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { effectiveRestartPolicy, mayRestart } from '../../../model/pod/restart-policy.ts'
import { killText } from '../stop/kill-texts.ts'
import type { ContainerKill, KillCause } from './pod-actions.ts'
import type { ProbeVerdicts } from '../probing/probe-verdicts.ts'

export interface RegularContainerActions {
  /** How many run and stay. */
  readonly kept: number
  readonly kill: readonly ContainerKill[]
  /** Names, in the order of the spec. */
  readonly start: readonly string[]
}

/** What decides about a container beside its spec and its state. */
export interface JudgeInput {
  readonly probes: ProbeVerdicts
  /** Those that run and get the resources they were granted by a new start only. */
  readonly resized: ReadonlySet<string>
  /** The ids of those whose postStart hook failed and whose stop an earlier agent did not finish. */
  readonly failedStarts: ReadonlySet<string>
}

type Verdict = 'keep' | 'start' | 'leave' | { readonly kill: KillCause; readonly restart: boolean }

/** What the regular containers need now, once the init containers let them run. */
export function computeRegularContainerActions(
  pod: Pod,
  observed: ObservedPod,
  judged: JudgeInput,
): RegularContainerActions {
  let kept = 0
  const kill: ContainerKill[] = []
  const start: string[] = []
  for (const container of pod.spec.containers) {
    const { name } = container
    const instance = newestInstance(observed, name)
    const verdict = judge(pod, container, { ...judged, instance })
    if (verdict === 'keep') kept += 1
    else if (verdict === 'start') start.push(name)
    else if (verdict !== 'leave') {
      const message = killText({ what: 'Container', name, restarts: verdict.restart }, verdict.kill)
      kill.push({ id: instance?.id ?? '', name, cause: verdict.kill, message })
      if (verdict.restart) start.push(name)
    }
  }
  return { kept, kill, start }
}

function judge(
  pod: Pod,
  container: Container,
  { instance, probes, resized, failedStarts }: JudgeInput & { readonly instance: ObservedContainer | undefined },
): Verdict {
  // A pod that is being deleted starts nothing any more.
  const living = pod.metadata.deletionTimestamp === undefined
  if (instance === undefined || instance.state === 'created') return living ? 'start' : 'leave'
  if (instance.state === 'unknown') return { kill: 'unknown', restart: living }
  if (instance.state === 'exited') return mayRestart(pod, container, instance.exitCode) ? 'start' : 'leave'
  if (instance.hash !== containerHash(container)) return { kill: 'changed', restart: living }
  const restart = living && effectiveRestartPolicy(pod, container) !== 'Never'
  if (failedStarts.has(instance.id)) return { kill: 'postStart', restart }
  if (probes.liveness.get(instance.id) === false) return { kill: 'liveness', restart }
  if (probes.startup.get(instance.id) === false) return { kill: 'startup', restart }
  if (living && resized.has(container.name)) return { kill: 'resize', restart: true }
  return 'keep'
}

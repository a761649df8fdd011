import { containerHash } from '../../../model/pod/container-hash.ts'
import type { Container } from '../../../model/generated/core-v1.ts'
import { newestInstance } from '../../../model/pod/observed-pod.ts'
import type { ObservedContainer, ObservedPod } from '../../../model/pod/observed-pod.ts'
import { isSidecar } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { effectiveRestartPolicy, initExitCode, mayRestart } from '../../../model/pod/restart-policy.ts'
import { killText } from '../stop/kill-texts.ts'
import type { ContainerKill, KillCause } from './pod-actions.ts'
import type { JudgeInput } from './compute-regular-container-actions.ts'

export interface InitContainerActions {
  /** All init containers are done (sidecars: started), so the regular ones may run. */
  readonly initialized: boolean
  /** An init container failed for good: the pod ends. */
  readonly killPod: boolean
  readonly kill: readonly ContainerKill[]
  /** Names to start, in the order of the spec. */
  readonly start: readonly string[]
}

interface Verdict {
  readonly start?: 'this' | 'next'
  readonly kill?: { readonly cause: KillCause; readonly message: string }
  readonly done?: boolean
  readonly failed?: boolean
}

/**
 * What the init containers need now. Walked from the last to the first: the last one that the runtime knows shows how far the pod has
 * come, and of the ones before it only sidecars still matter.
 */
export function computeInitContainerActions(pod: Pod, observed: ObservedPod, judged: JudgeInput): InitContainerActions {
  const containers = pod.spec.initContainers ?? []
  if (containers.length === 0) return { initialized: true, killPod: false, kill: [], start: [] }
  let initialized = isPastInit(pod, observed)

  let laterKnown = initialized
  const start = new Set<number>()
  const kill: ContainerKill[] = []
  for (let index = containers.length - 1; index >= 0; index -= 1) {
    const container = containers[index] as Container
    const instance = newestInstance(observed, container.name)
    const sidecar = isSidecar(container)
    if (instance === undefined) {
      if (sidecar && laterKnown) start.add(index)
      continue
    }
    if (laterKnown && !sidecar) continue
    const verdict = sidecar ? judgeSidecar(container, instance, judged) : judgeInit(pod, container, instance)
    if (verdict.failed === true) return { initialized: false, killPod: true, kill: [], start: [] }
    if (verdict.kill !== undefined) kill.push({ id: instance.id, name: container.name, ...verdict.kill })
    if (verdict.start === 'this') start.add(index)
    if (verdict.done === true) {
      if (index === containers.length - 1) initialized = true
      else if (!laterKnown) start.add(index + 1)
    }
    laterKnown = true
  }
  if (!laterKnown && start.size === 0) start.add(0)
  return {
    initialized,
    killPod: false,
    kill,
    start: [...start].sort((a, b) => a - b).map((index) => containers[index]?.name ?? ''),
  }
}

/** A regular container was made in the sandbox in use; one that an older sandbox left behind says nothing about this one. */
function isPastInit(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.some(({ name }) => {
    const instance = newestInstance(observed, name)
    const alive = instance?.state === 'created' || instance?.state === 'running'
    return alive && instance.sandboxId === observed.sandboxes[0]?.id
  })
}

/** True when an init container ended in a way after which the pod can never get on. */
export function hasInitFailedForGood(pod: Pod, observed: ObservedPod): boolean {
  return (pod.spec.initContainers ?? []).some((container) => {
    const instance = newestInstance(observed, container.name)
    return instance !== undefined && !isSidecar(container) && judgeInit(pod, container, instance).failed === true
  })
}

function judgeInit(pod: Pod, container: Container, instance: ObservedContainer): Verdict {
  switch (instance.state) {
    case 'created':
      return { start: 'this' }
    case 'running':
      return {}
    case 'exited':
      if (initExitCode(instance) === 0) return { done: true }
      return mayRestart(pod, container, initExitCode(instance)) ? { start: 'this' } : { failed: true }
    case 'unknown':
      if (effectiveRestartPolicy(pod, container) === 'Never') return { failed: true }
      return killAndStart(container, 'unknown')
  }
}

function judgeSidecar(
  container: Container,
  instance: ObservedContainer,
  { probes, resized, failedStarts }: JudgeInput,
): Verdict {
  switch (instance.state) {
    case 'created':
    case 'exited':
      return { start: 'this' }
    case 'unknown':
      return killAndStart(container, 'unknown')
    case 'running': {
      if (failedStarts.has(instance.id)) return killAndStart(container, 'postStart')
      if (container.startupProbe !== undefined) {
        const started = probes.startup.get(instance.id)
        if (started === undefined) return {}
        if (!started) return killAndStart(container, 'startup')
      }
      if (instance.hash !== containerHash(container)) return { done: true, ...killAndStart(container, 'changed') }
      if (probes.liveness.get(instance.id) === false) return { done: true, ...killAndStart(container, 'liveness') }
      if (resized.has(container.name)) return { done: true, ...killAndStart(container, 'resize') }
      return { done: true }
    }
  }
}

function killAndStart({ name }: Container, cause: KillCause): Verdict {
  const what = cause === 'resize' ? 'Container' : 'Init container'
  return { start: 'this', kill: { cause, message: killText({ what, name }, cause) } }
}

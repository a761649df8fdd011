import { containerHash } from '../../model/pod/container-hash.ts'
import type { Container, EphemeralContainer } from '../../model/generated/core-v1.ts'
import { goJson } from '../../model/text/go-json.ts'
import type { Pod } from '../../model/pod/pod.ts'

/** The labels by which containers are found again: exactly the Go kubelet's. */
export function containerLabels(pod: Pod, containerName: string): Record<string, string> {
  return { ...podLabels(pod), 'io.kubernetes.container.name': containerName }
}

/** The labels that say which pod a sandbox or a container belongs to. */
export function podLabels(pod: Pod): Record<string, string> {
  return {
    'io.kubernetes.pod.name': pod.metadata.name,
    'io.kubernetes.pod.namespace': pod.metadata.namespace,
    'io.kubernetes.pod.uid': pod.metadata.uid,
  }
}

/** What is remembered in the runtime about an instance, for a later agent that has nothing else of it. */
export function computeContainerAnnotations(
  pod: Pod,
  container: Container | EphemeralContainer,
  restartCount: number,
): Record<string, string> {
  const { deletionGracePeriodSeconds } = pod.metadata
  const { terminationGracePeriodSeconds } = pod.spec
  const preStop = container.lifecycle?.preStop
  const ports = container.ports ?? []
  return {
    'io.kubernetes.container.hash': containerHash(container),
    'io.kubernetes.container.restartCount': `${restartCount}`,
    'io.kubernetes.container.terminationMessagePath': container.terminationMessagePath ?? '',
    'io.kubernetes.container.terminationMessagePolicy': container.terminationMessagePolicy ?? '',
    ...(deletionGracePeriodSeconds === undefined
      ? {}
      : { 'io.kubernetes.pod.deletionGracePeriod': `${deletionGracePeriodSeconds}` }),
    ...(terminationGracePeriodSeconds === undefined
      ? {}
      : { 'io.kubernetes.pod.terminationGracePeriod': `${terminationGracePeriodSeconds}` }),
    ...(preStop === undefined ? {} : { 'io.kubernetes.container.preStopHandler': goJson(preStop) }),
    ...(ports.length === 0 ? {} : { 'io.kubernetes.container.ports': goJson(ports) }),
  }
}

import type { Pod } from '../../model/generated/core-v1.ts'
import { badRequest } from '../api-error.ts'

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container'

/** Which container of a pod is meant: the one asked for, the only one, or the one that the pod names itself. Throws BadRequest otherwise. */
export function chooseContainer(pod: Pod, asked: string): string {
  const { name: podName = '', annotations } = pod.metadata ?? {}
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod.spec ?? {}
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name)
  if (asked !== '') {
    if (names.includes(asked)) return asked
    throw badRequest(`container ${asked.slice(0, 253)} is not valid for pod ${podName}`)
  }
  const [only, ...others] = containers
  if (only !== undefined && others.length === 0) return only.name
  const chosen = annotations?.[DEFAULT_CONTAINER]
  if (chosen !== undefined && names.includes(chosen)) return chosen
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]`)
}

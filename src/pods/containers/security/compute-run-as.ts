import type { Int64Value } from '../../../protocols/cri/generated/runtime-v1.ts'
import type { Int64, SecurityContext } from '../../../model/generated/core-v1.ts'
import { podText } from '../../../model/pod/pod.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import { ContainerConfigError } from '../pod-config-error.ts'

/** The user an image was built to run as; an image that names none runs as root. */
export interface ImageUser {
  readonly uid?: bigint | undefined
  readonly username: string
}

export interface RunAs {
  readonly runAsUser: Int64Value | undefined
  readonly runAsUsername: string
  readonly runAsGroup: Int64Value | undefined
}

interface NamedContainer {
  readonly name: string
  readonly securityContext?: SecurityContext | undefined
}

/** The user and group a container runs as: its own, else the pod's, else the image's; fails for root where it is forbidden. */
export function computeRunAs(pod: Pod, container: NamedContainer, image: ImageUser): RunAs {
  const own = container.securityContext
  const user = own?.runAsUser ?? pod.spec.securityContext?.runAsUser
  const group = own?.runAsGroup ?? pod.spec.securityContext?.runAsGroup
  if ((own?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot) === true) {
    const problem = rootProblem(user, image)
    if (problem !== undefined) {
      throw new ContainerConfigError(`${problem} (pod: "${podText(pod)}", container: ${container.name})`)
    }
  }
  return { ...runAsUser(user, image), runAsGroup: int64(group) }
}

function runAsUser(user: Int64 | undefined, image: ImageUser): Pick<RunAs, 'runAsUser' | 'runAsUsername'> {
  if (user !== undefined) return { runAsUser: int64(user), runAsUsername: '' }
  if (image.uid !== undefined) return { runAsUser: { value: image.uid }, runAsUsername: '' }
  if (image.username !== '') return { runAsUser: undefined, runAsUsername: image.username }
  return { runAsUser: { value: 0n }, runAsUsername: '' }
}

/** Why this would be root, or cannot be known not to be; undefined when all is well. */
function rootProblem(user: Int64 | undefined, image: ImageUser): string | undefined {
  if (user !== undefined) return user === 0 ? "container's runAsUser breaks non-root policy" : undefined
  if (image.uid === undefined && image.username !== '') {
    return `container has runAsNonRoot and image has non-numeric user (${image.username}), cannot verify user is non-root`
  }
  return (image.uid ?? 0n) === 0n ? 'container has runAsNonRoot and image will run as root' : undefined
}

function int64(value: Int64 | undefined): Int64Value | undefined {
  return value === undefined ? undefined : { value: BigInt(value) }
}

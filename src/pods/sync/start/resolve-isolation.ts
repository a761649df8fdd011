import { SandboxConfigError } from '../../containers/pod-config-error.ts'
import type { ObservedSandbox } from '../../../model/pod/observed-pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { UserNamespaceMapping } from '../../../model/pod/user-namespace.ts'
import { errorMessage } from '../../../base/telemetry/error-text.ts'
import type { NoteStep } from '../../../base/telemetry/note-step.ts'
import type { RuntimeFeatures } from '../../../model/pod/runtime-features.ts'
import type { RuntimeClasses } from './runtime-classes.ts'

export interface IsolationDeps {
  readonly runtimeClasses: RuntimeClasses
  /** What the runtime can do, as it last reported. */
  readonly features: () => RuntimeFeatures
  readonly userNamespaces: {
    /** The ids of the node that are those of a pod; the same each time, and recorded before they are given. */
    acquire(uid: PodUid): Promise<UserNamespaceMapping>
  }
  readonly noteStep: NoteStep
}

/** How a pod is kept apart from the node beyond what every pod gets. */
export interface Isolation {
  /** The way in which the runtime runs the pod; empty for the usual one. */
  readonly runtimeHandler: string
  /** Undefined for a pod that shares the users of the node. */
  readonly userNamespace: UserNamespaceMapping | undefined
}

/** Finds out what the pod asks for. A sandbox that is there already keeps what it was made with. Fails with a SandboxConfigError. */
export async function resolveIsolation(
  deps: IsolationDeps,
  pod: Pod,
  existing: ObservedSandbox | undefined,
): Promise<Isolation> {
  const { hostUsers, runtimeClassName = '' } = pod.spec
  const runtimeHandler = existing?.runtimeHandler ?? ''
  if (hostUsers !== false && (runtimeClassName === '' || existing !== undefined)) {
    return { runtimeHandler, userNamespace: undefined }
  }
  return await deps.noteStep('isolation of the pod', async () =>
    existing === undefined
      ? await isolateNew(deps, pod)
      : { runtimeHandler, userNamespace: existing.userNamespace ?? (await acquireIds(deps, pod)) },
  )
}

async function isolateNew(deps: IsolationDeps, pod: Pod): Promise<Isolation> {
  const runtimeHandler = findHandler(deps, pod)
  if (pod.spec.hostUsers !== false) return { runtimeHandler, userNamespace: undefined }
  requireUserNamespaces(deps, runtimeHandler)
  return { runtimeHandler, userNamespace: await acquireIds(deps, pod) }
}

function findHandler({ runtimeClasses }: IsolationDeps, { spec }: Pod): string {
  const name = spec.runtimeClassName ?? ''
  if (name === '') return ''
  const found = runtimeClasses.find(name)
  switch (found.kind) {
    case 'found':
      return found.value.handler
    case 'missing':
      throw new SandboxConfigError(`runtimeclass.node.k8s.io "${name}" not found`)
    case 'unavailable':
      throw new SandboxConfigError(`Cannot look up runtime class "${name}": ${found.why}`)
  }
}

function requireUserNamespaces({ features }: IsolationDeps, handler: string): void {
  if (features().handlers.get(handler)?.userNamespaces === true) return
  const who = handler === '' ? 'the container runtime' : `runtime handler "${handler}"`
  throw new SandboxConfigError(`Cannot run with hostUsers: false: ${who} does not support user namespaces`)
}

async function acquireIds({ userNamespaces }: IsolationDeps, { metadata }: Pod): Promise<UserNamespaceMapping> {
  try {
    return await userNamespaces.acquire(metadata.uid)
  } catch (error) {
    throw new SandboxConfigError(errorMessage(error), { cause: error })
  }
}

import type { Pod } from '../../../model/generated/core-v1.ts'
import { change } from '../session.ts'
import type { PodController } from './find-controller.ts'
import { Confirm } from './dialog.tsx'

const DEFAULT_GRACE_SECONDS = 30

/** How long its containers have to end. */
export function graceSeconds({ spec }: Pod): number {
  return Number(spec?.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS)
}

/** Deletes this very pod, not another one that has its name by now. */
export function deletePod({ metadata = {} }: Pod): Promise<unknown> {
  const { namespace = '', name = '', uid } = metadata
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } }
  return change(`/api/v1/namespaces/${namespace}/pods/${name}`, { method: 'DELETE', body })
}

interface DeleteProps {
  readonly pod: Pod
  readonly controller: PodController | undefined
  readonly onClose: () => void
}

export function DeleteDialog({ pod, controller, onClose }: DeleteProps) {
  const { namespace, name } = pod.metadata ?? {}
  const act = async () => void (await deletePod(pod))
  return (
    <Confirm title="Delete this pod?" action="Delete" isDangerous onClose={onClose} act={act}>
      <p>
        Pod{' '}
        <strong>
          {namespace}/{name}
        </strong>{' '}
        is asked to end and has {graceSeconds(pod)} seconds for it; then it is killed. Its logs and the data of its
        emptyDir volumes are removed.
      </p>
      {controller === undefined ? (
        <p>Nothing brings it back.</p>
      ) : (
        <p>
          {controller.kind} <strong>{controller.name}</strong> makes another pod in its place.
          {controller.canScale && ' To have fewer pods, scale it.'}
        </p>
      )}
    </Confirm>
  )
}

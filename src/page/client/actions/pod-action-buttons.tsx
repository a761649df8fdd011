import { useState } from 'preact/hooks'
import type { Pod } from '../../../model/generated/core-v1.ts'
import type { LiveState } from '../live.ts'
import { useAccess } from './access.ts'
import { DeleteDialog } from './delete-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { ResizeDialog } from './resize-dialog.tsx'
import { RestartDialog } from './restart-dialog.tsx'
import { ScaleDialog } from './scale-dialog.tsx'
import { useAnswer } from '../hooks.ts'
import { findController } from './find-controller.ts'
import type { PodController, Owned } from './find-controller.ts'

const MIRROR = 'kubernetes.io/config.mirror'

type Open = 'restart' | 'delete' | 'edit' | 'resize' | 'scale' | 'edit controller'

interface PodActionsProps {
  readonly pod: Pod
  readonly state: LiveState
  /** Then only what was begun goes on. */
  readonly isGone: boolean
}

/** What the user may do with a pod; nothing at all for one who may only read. */
export function PodActionButtons({ pod, state, isGone }: PodActionsProps) {
  const [open, setOpen] = useState<Open>()
  const controller = useController(pod)
  const { namespace = '', name = '', annotations } = pod.metadata ?? {}
  const about = { resource: 'pods', namespace, name }
  const ofController =
    controller === undefined
      ? []
      : [
          { verb: 'patch', group: controller.group, resource: controller.resource, subresource: 'scale', namespace },
          { verb: 'update', group: controller.group, resource: controller.resource, namespace },
        ]
  const [mayDelete, mayCreate, mayEdit, mayResize, mayScale, mayEditController] = useAccess([
    { verb: 'delete', ...about },
    { verb: 'create', resource: 'pods', namespace },
    { verb: 'update', ...about },
    { verb: 'patch', ...about, subresource: 'resize' },
    ...ofController,
  ])
  // Its file on the node is what counts, and no API reaches that.
  if (annotations?.[MIRROR] !== undefined)
    return <p class="soft">This pod comes from a file on the node: change or remove the file.</p>
  const buttons: readonly (readonly [open: Open, title: string, isShown: boolean | undefined])[] = [
    ['restart', 'Restart…', mayDelete && (controller !== undefined || mayCreate)],
    ['edit', 'Edit YAML…', mayEdit],
    ['resize', 'Resize…', mayResize],
    ['scale', `Scale ${controller?.kind}…`, mayScale && controller?.canScale],
    ['edit controller', `Edit ${controller?.kind}…`, mayEditController && controller !== undefined],
    ['delete', 'Delete…', mayDelete],
  ]
  const shown = isGone ? [] : buttons.filter(([, , isShown]) => isShown === true)
  if (shown.length === 0 && open === undefined) return null
  const onClose = () => setOpen(undefined)
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`
  return (
    <div class="actions" role="group" aria-label="Actions">
      {shown.map(([id, title]) => (
        <button key={id} type="button" onClick={() => setOpen(id)}>
          {title}
        </button>
      ))}
      {open === 'restart' && <RestartDialog pod={pod} controller={controller} state={state} onClose={onClose} />}
      {open === 'delete' && <DeleteDialog pod={pod} controller={controller} onClose={onClose} />}
      {open === 'edit' && <EditDialog path={path} title={`Pod ${namespace}/${name}`} onClose={onClose} />}
      {open === 'resize' && <ResizeDialog pod={pod} onClose={onClose} />}
      {open === 'scale' && controller !== undefined && (
        <ScaleDialog controller={controller} namespace={namespace} onClose={onClose} />
      )}
      {open === 'edit controller' && controller !== undefined && (
        <EditDialog
          path={controller.path}
          title={`${controller.kind} ${namespace}/${controller.name}`}
          onClose={onClose}
        />
      )}
    </div>
  )
}

/** What a person changes to have other pods: the Deployment rather than its ReplicaSet. Undefined while that is not known. */
function useController(pod: Pod): PodController | undefined {
  const first = findController(pod)
  const isMiddle = first?.kind === 'ReplicaSet'
  const middle = useAnswer<Owned>(isMiddle ? first.path : undefined, undefined)
  if (!isMiddle) return first
  if (middle.value === undefined) return middle.error === undefined ? undefined : first
  return findController(middle.value) ?? first
}

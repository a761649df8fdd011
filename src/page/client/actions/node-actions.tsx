import { useLayoutEffect, useState } from 'preact/hooks'
import type { NodeView, SessionView } from '../../messages/page-message.ts'
import { change } from '../session.ts'
import { useAccess } from './access.ts'
import { ApplyDialog, readFiles } from './apply-dialog.tsx'
import { Confirm } from './dialog.tsx'
import { PullDialog } from './pull-dialog.tsx'

interface NodeActionsProps {
  readonly session: SessionView
  readonly node: NodeView | null | undefined
}

/** What the user may do with the node; nothing at all for one who may only read. */
export function NodeActions({ session, node }: NodeActionsProps) {
  const [open, setOpen] = useState<'cordon' | 'apply' | 'pull'>()
  const [dropped, setDropped] = useState('')
  const { nodeName: name } = session
  const [mayCreate, mayPatch, mayPatchNode, mayPull] = useAccess([
    { verb: 'create', resource: 'pods', namespace: 'default' },
    { verb: 'patch', resource: 'pods', namespace: 'default' },
    { verb: 'patch', resource: 'nodes', name },
    { verb: 'create', resource: 'nodes', subresource: 'proxy', name },
  ])
  const mayApply = mayCreate === true && mayPatch === true
  const isOver = useDrop(mayApply && open === undefined, (text) => {
    setDropped(text)
    setOpen('apply')
  })
  const isCordoned = node?.isUnschedulable === true
  const onClose = () => {
    setOpen(undefined)
    setDropped('')
  }
  const mayCordon = mayPatchNode === true && node !== undefined && node !== null
  const canPull = mayPull === true && session.canPull
  if (!mayApply && !mayCordon && !canPull) return null
  return (
    <div class="actions" role="group" aria-label="Actions">
      {mayApply && (
        <button type="button" onClick={() => setOpen('apply')}>
          Apply a file…
        </button>
      )}
      {canPull && (
        <button type="button" onClick={() => setOpen('pull')}>
          Pull an image…
        </button>
      )}
      {mayCordon && (
        <button type="button" onClick={() => setOpen('cordon')}>
          {isCordoned ? 'Uncordon…' : 'Cordon…'}
        </button>
      )}
      {isOver && <p class="drop-hint">Drop the file to see what it would change.</p>}
      {open === 'apply' && <ApplyDialog dropped={dropped} onClose={onClose} />}
      {open === 'pull' && <PullDialog onClose={onClose} />}
      {open === 'cordon' && <CordonDialog name={name} isCordoned={isCordoned} onClose={onClose} />}
    </div>
  )
}

function CordonDialog({
  name,
  isCordoned,
  onClose,
}: {
  readonly name: string
  readonly isCordoned: boolean
  readonly onClose: () => void
}) {
  const act = async () => {
    const body = { spec: { unschedulable: isCordoned ? null : true } }
    await change(`/api/v1/nodes/${name}`, { method: 'PATCH', type: 'application/merge-patch+json', body })
  }
  const action = isCordoned ? 'Uncordon' : 'Cordon'
  return (
    <Confirm title={`${action} the node?`} action={action} onClose={onClose} act={act}>
      <p>
        Node <strong>{name}</strong>{' '}
        {isCordoned ? 'takes new pods again.' : 'takes no new pods. Those that run go on; new ones wait.'}
      </p>
    </Confirm>
  )
}

/** Files that are dropped anywhere on the page; whether one is just over it. */
function useDrop(isOn: boolean, onText: (text: string) => void): boolean {
  const [isOver, setOver] = useState(false)
  // At once, not after the next paint: a file may be dropped as soon as the page shows that it can be.
  useLayoutEffect(() => {
    if (!isOn) return
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false)
    }
    const drop = (event: DragEvent) => {
      setOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      void readFiles(event.dataTransfer?.files ?? []).then(onText)
    }
    addEventListener('dragover', over)
    addEventListener('dragleave', leave)
    addEventListener('drop', drop)
    return () => {
      removeEventListener('dragover', over)
      removeEventListener('dragleave', leave)
      removeEventListener('drop', drop)
      setOver(false)
    }
  }, [isOn])
  return isOver
}

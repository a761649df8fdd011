import { useEffect, useState } from 'preact/hooks'
import type { Pod } from '../../../model/generated/core-v1.ts'
import { toErrorText } from '../format.ts'
import type { LiveState } from '../live.ts'
import { navigate } from '../navigation.ts'
import { change } from '../session.ts'
import type { PodController } from './find-controller.ts'
import { deletePod, graceSeconds } from './delete-dialog.tsx'
import { Confirm, Dialog, DialogButtons } from './dialog.tsx'
import { toNewPod } from './to-new-pod.ts'

interface RestartProps {
  readonly pod: Pod
  readonly controller: PodController | undefined
  readonly state: LiveState
  readonly onClose: () => void
}

/** Replaces a pod by a new one. */
export function RestartDialog({ pod, controller, state, onClose }: RestartProps) {
  if (controller === undefined) return <ReplaceDialog pod={pod} state={state} onClose={onClose} />
  const { namespace, name } = pod.metadata ?? {}
  const act = async () => {
    await deletePod(pod)
    // The new one has another name.
    navigate('/')
  }
  return (
    <Confirm title="Restart this pod?" action="Restart" isDangerous onClose={onClose} act={act}>
      <p>
        Pod{' '}
        <strong>
          {namespace}/{name}
        </strong>{' '}
        is deleted, with {graceSeconds(pod)} seconds to end; {controller.kind} <strong>{controller.name}</strong> makes
        a new one in its place. Its logs and the data of its emptyDir volumes are removed.
      </p>
    </Confirm>
  )
}

/** No controller brings the pod back: it is deleted, and created again as soon as it is gone. */
function ReplaceDialog({ pod, state, onClose }: Omit<RestartProps, 'controller'>) {
  // As it was when it was asked for; the one on the screen changes while it ends.
  const [before] = useState(pod)
  const [step, setStep] = useState<'asked' | 'ending' | 'creating' | 'failed'>('asked')
  const [error, setError] = useState<string>()
  const { namespace = '', name = '', uid = '' } = before.metadata ?? {}
  const isGone = state.pods !== undefined && !state.pods.has(uid)
  const create = async () => {
    setStep('creating')
    setError(undefined)
    try {
      await change(`/api/v1/namespaces/${namespace}/pods`, { method: 'POST', body: toNewPod(before) })
      onClose()
    } catch (failure) {
      setError(`The pod is deleted, but could not be created again: ${toErrorText(failure)}`)
      setStep('failed')
    }
  }
  useEffect(() => {
    if (step === 'ending' && isGone) void create()
  }, [step, isGone])
  const isBusy = step === 'ending' || step === 'creating'
  useEffect(() => {
    if (!isBusy) return
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isBusy])
  const start = () => {
    setStep('ending')
    setError(undefined)
    deletePod(before).catch((failure: unknown) => {
      setError(toErrorText(failure))
      setStep('asked')
    })
  }
  const texts = { asked: '', ending: 'Waits until the pod has ended…', creating: 'Creates it again…', failed: '' }
  return (
    <Dialog title="Restart this pod?" onClose={onClose} isHeld={isBusy || step === 'failed'}>
      <p>
        No controller brings pod{' '}
        <strong>
          {namespace}/{name}
        </strong>{' '}
        back, so this page does: it is deleted, with {graceSeconds(before)} seconds to end, and created again from what
        was asked for. Keep this page open until then. Its logs and the data of its emptyDir volumes are removed.
      </p>
      <p role="status">{texts[step]}</p>
      {step === 'failed' && (
        <details>
          <summary>The pod that could not be created</summary>
          <pre class="code" tabIndex={0}>
            {JSON.stringify(toNewPod(before), undefined, 2)}
          </pre>
        </details>
      )}
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={step === 'failed' ? 'Try again' : 'Restart'}
        onAct={step === 'failed' ? () => void create() : start}
        isDangerous
      />
    </Dialog>
  )
}

import { useState } from 'preact/hooks'
import { useAnswer } from '../hooks.ts'
import { change } from '../session.ts'
import type { PodController } from './find-controller.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'

interface Scale {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas: number }
}

interface ScaleProps {
  readonly controller: PodController
  readonly namespace: string
  readonly onClose: () => void
}

export function ScaleDialog({ controller, namespace, onClose }: ScaleProps) {
  const path = `${controller.path}/scale`
  const scale = useAnswer<Scale>(path, undefined)
  const [typed, setTyped] = useState<string>()
  const { isBusy, error, run } = useWork()
  const now = scale.value === undefined ? undefined : (scale.value.spec?.replicas ?? 0)
  const text = typed ?? String(now ?? '')
  const wanted = /^\d{1,4}$/.test(text) ? Number(text) : undefined
  const isNew = wanted !== undefined && now !== undefined && wanted !== now
  const act = () =>
    run(async () => {
      const body = { spec: { replicas: wanted } }
      await change(path, { method: 'PATCH', type: 'application/merge-patch+json', body })
      onClose()
    })
  return (
    <Dialog title={`Scale ${controller.kind}`} onClose={onClose} isHeld={isBusy}>
      <p>
        {controller.kind}{' '}
        <strong>
          {namespace}/{controller.name}
        </strong>
        {now === undefined ? '' : ` has ${countPods(now)}`}.
      </p>
      <label class="field">
        Pods
        <input
          type="number"
          min={0}
          max={9999}
          value={text}
          onInput={(event) => setTyped(event.currentTarget.value)}
          disabled={now === undefined}
        />
      </label>
      <p role="status">{describe(now, wanted)}</p>
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error ?? scale.error}
        action={isNew ? 'Scale' : undefined}
        onAct={act}
        isDangerous={isNew && wanted < now}
      />
    </Dialog>
  )
}

function describe(now: number | undefined, wanted: number | undefined): string {
  if (now === undefined) return ''
  if (wanted === undefined) return 'Type a whole number from 0 to 9999.'
  if (wanted === now) return ''
  return wanted > now ? `It starts ${countPods(wanted - now)}.` : `It ends ${countPods(now - wanted)}, of its choice.`
}

function countPods(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`
}

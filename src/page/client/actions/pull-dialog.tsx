import { useEffect, useRef, useState } from 'preact/hooks'
import { ask } from '../session.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'

/** Pulls an image to the node, so that pods that need it start at once. Closing the dialog ends the pull. */
export function PullDialog({ onClose }: { readonly onClose: () => void }) {
  const [image, setImage] = useState('')
  const [pulled, setPulled] = useState('')
  const { isBusy, error, run } = useWork()
  const stop = useRef(new AbortController())
  useEffect(() => () => stop.current.abort(), [])
  const act = () =>
    run(async () => {
      setPulled('')
      const answer = await ask('/agent/pull', {
        method: 'POST',
        body: JSON.stringify({ image }),
        headers: { 'content-type': 'application/json' },
        signal: stop.current.signal,
      })
      const { error: failure } = (await answer.json()) as { readonly error?: string }
      if (failure !== undefined) throw new Error(failure)
      setPulled(image)
    })
  return (
    <Dialog title="Pull an image" onClose={onClose} isHeld={isBusy}>
      <p>The node downloads the image, with the logins that it has itself. Nothing is started.</p>
      <label class="field">
        Image
        <input
          type="text"
          size={40}
          placeholder="registry.example/name:tag"
          autocapitalize="off"
          spellcheck={false}
          value={image}
          onInput={(event) => setImage(event.currentTarget.value.trim())}
        />
      </label>
      <p role="status">{pulled !== '' && `${pulled} is on the node.`}</p>
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={image === '' || image === pulled ? undefined : 'Pull'}
        onAct={act}
      />
    </Dialog>
  )
}

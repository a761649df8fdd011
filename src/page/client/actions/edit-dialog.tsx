import { useEffect, useState } from 'preact/hooks'
import { askJson, change } from '../session.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { toCompared } from './to-compared.ts'

type Stored = { readonly metadata?: { readonly resourceVersion?: string } } & object

interface Checked {
  readonly before: string
  readonly after: string
  /** What is sent. */
  readonly body: object
}

/** Changes an object as text: the server checks it first, and what it would be is shown beside what it is. */
export function EditDialog({
  path,
  title,
  onClose,
}: {
  readonly path: string
  readonly title: string
  readonly onClose: () => void
}) {
  const [stored, setStored] = useState<Stored>()
  const [first, setFirst] = useState('')
  const [text, setText] = useState<string>()
  const [checked, setChecked] = useState<Checked>()
  const { isBusy, error, run } = useWork()
  useEffect(() => {
    run(async () => {
      const [{ stringify }, value] = await Promise.all([
        import('yaml'),
        askJson<Stored>(path, new AbortController().signal),
      ])
      const shown = stringify(toCompared(value))
      setStored(value)
      setFirst(shown)
      setText(shown)
    })
  }, [path])
  const check = () =>
    run(async () => {
      const { parse, stringify } = await import('yaml')
      const body = withVersion(parse(text ?? '', { version: '1.1', merge: true }), stored)
      const after = await change<object>(`${path}?dryRun=All`, { method: 'PUT', body })
      setChecked({ before: first, after: stringify(toCompared(after)), body })
    })
  const act = () =>
    run(async () => {
      await change(path, { method: 'PUT', body: checked?.body ?? {} })
      onClose()
    })
  const isChanged = text !== undefined && text !== first
  return (
    <Dialog title={`Edit ${title}`} onClose={onClose} isHeld={isBusy || isChanged} isWide>
      {checked === undefined ? (
        <label class="editor">
          <span class="soft">YAML, without status. The server checks it before anything changes.</span>
          <textarea
            spellcheck={false}
            autocapitalize="off"
            autocomplete="off"
            value={text ?? 'Loading…'}
            disabled={text === undefined}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
      ) : (
        <>
          <p>The server accepts it. This will be different:</p>
          <DiffView before={checked.before} after={checked.after} />
        </>
      )}
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={checked !== undefined ? 'Apply' : isChanged ? 'Check' : undefined}
        onAct={checked === undefined ? check : act}
      >
        {checked !== undefined && (
          <button type="button" disabled={isBusy} onClick={() => setChecked(undefined)}>
            Back
          </button>
        )}
      </DialogButtons>
    </Dialog>
  )
}

/** So that it replaces what was shown and nothing newer. */
function withVersion(parsed: unknown, stored: Stored | undefined): object {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('Expected an object in YAML')
  const { metadata, ...rest } = parsed as { readonly metadata?: object }
  return { ...rest, metadata: { ...metadata, resourceVersion: stored?.metadata?.resourceVersion } }
}

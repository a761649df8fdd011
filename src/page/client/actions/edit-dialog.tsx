import { useEffect, useState } from 'preact/hooks'
import { askJson, change } from '../session.ts'
import { isRecord } from '../../../base/document/is-record.ts'
import { computeMergePatch, findConflict } from './compute-merge-patch.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { toCompared } from './to-compared.ts'

interface Checked {
  readonly before: string
  readonly after: string
  /** What is sent. */
  readonly body: object
}

// The API refuses an unknown field instead of dropping it silently: it is a mistake.
const STRICT = 'fieldValidation=Strict'
const MERGE = { method: 'PATCH', type: 'application/merge-patch+json' } as const

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
  const [first, setFirst] = useState('')
  const [text, setText] = useState<string>()
  const [checked, setChecked] = useState<Checked>()
  const { isBusy, error, run } = useWork()
  useEffect(() => {
    run(async () => {
      const [{ stringify }, value] = await Promise.all([
        import('yaml'),
        askJson<object>(path, new AbortController().signal),
      ])
      const shown = stringify(toCompared(value))
      setFirst(shown)
      setText(shown)
    })
  }, [path])
  const check = () =>
    run(async () => {
      const { parse, stringify } = await import('yaml')
      const body = computeMergePatch(
        toFields(parse(first)),
        toFields(parse(text ?? '', { version: '1.1', merge: true })),
      )
      const now = await readUnchanged(body)
      const after = await change<object>(`${path}?dryRun=All&${STRICT}`, { ...MERGE, body })
      // What others changed meanwhile is no part of what this changes.
      setChecked({ before: stringify(now), after: stringify(toCompared(after)), body })
    })
  const act = () =>
    run(async () => {
      const { body = {} } = checked ?? {}
      await readUnchanged(body)
      await change(`${path}?${STRICT}`, { ...MERGE, body })
      onClose()
    })
  /** The object as it is now; fails where others have set what this sets. */
  const readUnchanged = async (body: object) => {
    const { parse } = await import('yaml')
    const now = toCompared(await askJson<object>(path, new AbortController().signal))
    const conflict = findConflict(toFields(body), computeMergePatch(toFields(parse(first)), toFields(now)))
    if (conflict === undefined) return now
    throw new Error(`${conflict} has been changed by others since this was opened: close it and edit again`)
  }
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

function toFields(parsed: unknown) {
  if (!isRecord(parsed)) throw new Error('Expected an object in YAML')
  return parsed
}

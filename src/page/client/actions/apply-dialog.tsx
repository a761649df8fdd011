import { useEffect, useState } from 'preact/hooks'
import { toErrorText, toVisible } from '../format.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { planApply } from './plan-apply.ts'
import type { PlannedObject } from './plan-apply.ts'
import { parseFileObjects } from './parse-file-objects.ts'

const OUTCOMES: Readonly<Record<PlannedObject['outcome'], string>> = {
  create: 'will be created',
  change: 'will be changed',
  same: 'stays as it is',
  unchecked: 'will be created',
  refused: 'is refused',
}

type Done = 'done' | { readonly error: string }

/** Applies files: first it says what would become of each object, then it does it. */
export function ApplyDialog({ dropped, onClose }: { readonly dropped: string; readonly onClose: () => void }) {
  const [text, setText] = useState(dropped)
  const [plans, setPlans] = useState<readonly PlannedObject[]>()
  const [isForced, setForced] = useState(false)
  const [done, setDone] = useState<readonly Done[]>()
  const { isBusy, error, run } = useWork()
  const check = (forced = isForced) =>
    run(async () => {
      const { parse, stringify } = await import('yaml')
      const objects = parseFileObjects(text, (document) => parse(document, { version: '1.1', merge: true }))
      if (objects.length === 0) throw new Error('There is no object in it')
      setPlans(await planApply(objects, { isForced: forced, stringify }))
    })
  useEffect(() => {
    if (dropped !== '') check()
  }, [])
  const act = () =>
    run(async () => {
      const results: Done[] = []
      // In their order: what comes first is there for what comes later.
      for (const { apply } of plans ?? []) {
        results.push(
          await apply().then(
            (): Done => 'done',
            (failure: unknown) => ({ error: toErrorText(failure) }),
          ),
        )
        setDone([...results])
      }
    })
  const refused = plans?.filter(({ outcome }) => outcome === 'refused').length ?? 0
  const changes = plans?.filter(({ outcome }) => outcome !== 'same').length ?? 0
  const isConflict = plans?.some(({ message }) => /conflict/i.test(message)) ?? false
  const canAct = plans !== undefined && refused === 0 && changes > 0 && done === undefined
  return (
    <Dialog title="Apply a file" onClose={onClose} isHeld={isBusy || (text !== dropped && done === undefined)} isWide>
      {plans === undefined ? (
        <Source text={text} setText={setText} />
      ) : (
        <ul class="plan">
          {plans.map((plan, index) => (
            <li key={`${index} ${plan.title}`} class={plan.outcome}>
              <Plan plan={plan} done={done?.[index]} />
            </li>
          ))}
        </ul>
      )}
      {(isConflict || isForced) && done === undefined && (
        <label>
          <input
            type="checkbox"
            checked={isForced}
            disabled={isBusy}
            onChange={(event) => {
              setForced(event.currentTarget.checked)
              check(event.currentTarget.checked)
            }}
          />{' '}
          Take over the fields that others manage
        </label>
      )}
      {refused > 0 && done === undefined && <p>Nothing is applied as long as the server refuses a part of it.</p>}
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={plans === undefined ? (text.trim() === '' ? undefined : 'Check') : canAct ? 'Apply' : undefined}
        onAct={plans === undefined ? () => check() : act}
      >
        {plans !== undefined && done === undefined && (
          <button type="button" disabled={isBusy} onClick={() => setPlans(undefined)}>
            Back
          </button>
        )}
      </DialogButtons>
    </Dialog>
  )
}

function Source({ text, setText }: { readonly text: string; readonly setText: (text: string) => void }) {
  const read = async (files: FileList | null) => setText(await readFiles(files ?? []))
  return (
    <>
      <label class="field">
        Files
        <input
          type="file"
          multiple
          accept=".yaml,.yml,.json"
          onChange={(event) => void read(event.currentTarget.files)}
        />
      </label>
      <label class="editor">
        <span class="soft">Or YAML, one object or several. The server checks all of it before anything changes.</span>
        <textarea
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </>
  )
}

function Plan({ plan, done }: { readonly plan: PlannedObject; readonly done: Done | undefined }) {
  const { title, outcome, before, after, message } = plan
  const state = done === undefined ? OUTCOMES[outcome] : done === 'done' ? 'applied' : `failed: ${done.error}`
  return (
    <>
      <strong>{toVisible(title)}</strong> <span class="outcome">{state}</span>
      {message !== '' && <p class={outcome === 'refused' ? 'bad-text' : 'soft'}>{toVisible(message)}</p>}
      {outcome !== 'refused' && outcome !== 'same' && (
        <details open={done === undefined && outcome === 'change'}>
          <summary>
            {outcome === 'change' ? 'What is different' : done === 'done' ? 'What it is' : 'What it will be'}
          </summary>
          <DiffView before={before} after={after} />
        </details>
      )}
    </>
  )
}

/** The text of files, one after the other. */
export async function readFiles(files: Iterable<File>): Promise<string> {
  const texts = await Promise.all([...files].map((file) => file.text()))
  return texts.join('\n---\n')
}

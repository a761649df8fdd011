import { useState } from 'preact/hooks'
import type { Container, Pod } from '../../../model/generated/core-v1.ts'
import { change } from '../session.ts'
import { Dialog, DialogButtons, useWork } from './dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { toCompared } from './to-compared.ts'

const FIELDS = [
  ['requests', 'cpu', 'CPU request'],
  ['limits', 'cpu', 'CPU limit'],
  ['requests', 'memory', 'Memory request'],
  ['limits', 'memory', 'Memory limit'],
] as const

/** Changes what the containers of a pod may use, without another pod in its place. */
export function ResizeDialog({ pod, onClose }: { readonly pod: Pod; readonly onClose: () => void }) {
  const { namespace = '', name = '' } = pod.metadata ?? {}
  const [before] = useState(pod)
  const containers = before.spec?.containers ?? []
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map())
  const [checked, setChecked] = useState<readonly [before: string, after: string]>()
  const { isBusy, error, run } = useWork()
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/resize`
  const patch = { spec: { containers: containers.flatMap((each) => toPatch(each, typed)) } }
  const send = (query: string) =>
    change<Pod>(`${path}${query}`, { method: 'PATCH', type: 'application/strategic-merge-patch+json', body: patch })
  const check = () =>
    run(async () => {
      const { stringify } = await import('yaml')
      const after = await send('?dryRun=All')
      setChecked([stringify(toCompared(before)), stringify(toCompared(after))])
    })
  const act = () =>
    run(async () => {
      await send('')
      onClose()
    })
  const isChanged = patch.spec.containers.length > 0
  return (
    <Dialog title="Resize the containers" onClose={onClose} isHeld={isBusy} isWide>
      <p>
        The containers of{' '}
        <strong>
          {namespace}/{name}
        </strong>{' '}
        get other requests and limits while they run. What the node cannot give at once stays pending.
      </p>
      {containers.map((container) => (
        <fieldset key={container.name}>
          <legend>
            {container.name} <span class="soft">{describePolicy(container)}</span>
          </legend>
          {FIELDS.map(([part, resource, title]) => (
            <label key={title} class="field">
              {title}
              <input
                type="text"
                size={8}
                placeholder="none"
                value={typed.get(keyOf(container, part, resource)) ?? quantityOf(container, part, resource)}
                onInput={(event) => {
                  setTyped(new Map(typed).set(keyOf(container, part, resource), event.currentTarget.value.trim()))
                  setChecked(undefined)
                }}
              />
            </label>
          ))}
        </fieldset>
      ))}
      {checked !== undefined && <DiffView before={checked[0]} after={checked[1]} />}
      <DialogButtons
        onClose={onClose}
        isBusy={isBusy}
        error={error}
        action={!isChanged ? undefined : checked === undefined ? 'Check' : 'Resize'}
        onAct={checked === undefined ? check : act}
      />
    </Dialog>
  )
}

function keyOf({ name }: Container, part: string, resource: string): string {
  return `${name} ${part} ${resource}`
}

function quantityOf({ resources }: Container, part: 'requests' | 'limits', resource: string): string {
  return resources?.[part]?.[resource] ?? ''
}

/** What was typed that is another value. */
function toPatch(container: Container, typed: ReadonlyMap<string, string>): readonly object[] {
  const changed = FIELDS.flatMap(([part, resource]) => {
    const value = typed.get(keyOf(container, part, resource))
    return value === undefined || value === quantityOf(container, part, resource)
      ? []
      : [[part, resource, value === '' ? null : value] as const]
  })
  if (changed.length === 0) return []
  const of = (wanted: string) =>
    Object.fromEntries(changed.flatMap(([part, resource, value]) => (part === wanted ? [[resource, value]] : [])))
  return [{ name: container.name, resources: { requests: of('requests'), limits: of('limits') } }]
}

function describePolicy({ resizePolicy = [] }: Container): string {
  const restarts = resizePolicy.filter((each) => each.restartPolicy === 'RestartContainer')
  return restarts.length === 0 ? '' : `restarts when ${restarts.map((each) => each.resourceName).join(' or ')} changes`
}

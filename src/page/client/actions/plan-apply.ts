import { toErrorText } from '../format.ts'
import { AnswerError, askJson, change } from '../session.ts'
import type { FileObject } from './parse-file-objects.ts'
import { toCompared } from './to-compared.ts'

/** What will become of one object of a file. */
export interface PlannedObject {
  readonly title: string
  readonly outcome: 'create' | 'change' | 'same' | 'unchecked' | 'refused'
  readonly before: string
  readonly after: string
  /** Why the server refuses it, or why it could not be asked. */
  readonly message: string
  /** Applies it. */
  readonly apply: () => Promise<void>
}

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[]
}

type Stringify = (value: object) => string

const MANAGER = 'deckhand-page'

/** Asks the server what each object would become, in their order; nothing is changed. */
export async function planApply(
  objects: readonly FileObject[],
  { isForced, stringify }: { readonly isForced: boolean; readonly stringify: Stringify },
): Promise<readonly PlannedObject[]> {
  const lists = new Map<string, Promise<ResourceList>>()
  const made = new Set(objects.flatMap(({ kind, name }) => (kind === 'Namespace' ? [name] : [])))
  const plans: PlannedObject[] = []
  for (const object of objects) plans.push(await planObject(object))
  return plans

  async function planObject(object: FileObject): Promise<PlannedObject> {
    const plain = `${object.kind} ${object.name}`
    const refused = (message: string, title = plain): PlannedObject => ({
      title,
      outcome: 'refused',
      before: '',
      after: '',
      message,
      apply: () => Promise.reject(new Error(message)),
    })
    try {
      const found = await findPath(object)
      if (found === undefined) return refused(`The server knows no kind "${object.kind}" in ${object.apiVersion}`)
      const { path, namespace } = found
      const title = namespace === '' ? plain : `${object.kind} ${namespace}/${object.name}`
      const force = isForced ? '&force=true' : ''
      const send = (dryRun: string) =>
        change<object>(`${path}?fieldManager=${MANAGER}${force}${dryRun}`, {
          method: 'PATCH',
          type: 'application/apply-patch+yaml',
          body: object.text,
        })
      const apply = async () => void (await send(''))
      const before = await readIfThere(path)
      try {
        const after = stringify(toCompared(await send('&dryRun=All')))
        const shown = before === undefined ? '' : stringify(toCompared(before))
        const outcome = before === undefined ? 'create' : shown === after ? 'same' : 'change'
        return { title, outcome, before: shown, after, message: '', apply }
      } catch (error) {
        // Nothing can be tried in a namespace that comes with the same file.
        if (before !== undefined || !made.has(namespace)) return refused(toErrorText(error), title)
        const message = 'It can be checked only when its namespace is there, which this file makes.'
        return { title, outcome: 'unchecked', before: '', after: object.text, message, apply }
      }
    } catch (error) {
      return refused(toErrorText(error))
    }
  }

  async function findPath({ apiVersion, kind, name, namespace }: FileObject) {
    if (!/^[\w.-]+(?:\/[\w.-]+)?$/.test(apiVersion)) return undefined
    const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    const list = lists.get(base) ?? askJson<ResourceList>(base, new AbortController().signal)
    lists.set(base, list)
    const known = await list.catch((error: unknown): ResourceList => {
      if (error instanceof AnswerError && error.status === 404) return { resources: [] }
      throw error
    })
    const resource = known.resources.find((each) => each.kind === kind && !each.name.includes('/'))
    if (resource === undefined) return undefined
    const place = resource.namespaced ? namespace || 'default' : ''
    const middle = place === '' ? '' : `/namespaces/${encodeURIComponent(place)}`
    return { path: `${base}${middle}/${resource.name}/${encodeURIComponent(name)}`, namespace: place }
  }
}

async function readIfThere(path: string): Promise<object | undefined> {
  try {
    return await askJson<object>(path, new AbortController().signal)
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return undefined
    throw error
  }
}

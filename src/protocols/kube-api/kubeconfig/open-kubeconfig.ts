import type { Segments } from '../../../base/document/document-value.ts'
import { parseText, TextError } from '../../../base/document/parse-text.ts'
import type { LocatedText } from '../../../base/document/parse-text.ts'
import { FieldReader } from './field-reader.ts'
import { KubeconfigError } from './kubeconfig.ts'

/** The parts of a kubeconfig file that its current context names, still as they stand there. */
export interface KubeconfigParts {
  readonly path: string
  readonly cluster: FieldReader
  /** Undefined: the context has none. */
  readonly user: FieldReader | undefined
}

/** Finds the current context of a kubeconfig file, with its cluster and its user. */
export function openKubeconfig(bytes: Uint8Array, path: string): KubeconfigParts {
  const root = readRoot(bytes, path)
  const context = find(root, { list: 'contexts', part: 'context' }, { at: root, field: 'current-context' })
  const user = { at: context, field: 'user' }
  return {
    path,
    cluster: find(root, { list: 'clusters', part: 'cluster' }, { at: context, field: 'cluster' }),
    user: context.text('user') === '' ? undefined : find(root, { list: 'users', part: 'user' }, user),
  }
}

function readRoot(bytes: Uint8Array, path: string): FieldReader {
  let text: LocatedText
  try {
    text = parseText(bytes)
  } catch (error) {
    if (!(error instanceof TextError)) throw error
    const { line, column } = error.place
    throw new KubeconfigError(`Cannot use kubeconfig "${path}": ${error.message} (line ${line}, column ${column})`, {
      cause: error,
    })
  }
  const report = (segments: Segments, problem: string) => {
    const { line } = text.locate(segments)
    const field = segments.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('')
    return new KubeconfigError(`Cannot use kubeconfig "${path}": ${field.slice(1)}: ${problem} (line ${line})`)
  }
  const root = new FieldReader(text.value, [], report)
  const kind = root.text('kind')
  if (kind !== '' && kind !== 'Config') throw root.fault('kind', 'expected Config')
  return root
}

/** The entry of a list of named things whose name stands in a field. */
function find(
  root: FieldReader,
  { list, part }: { readonly list: string; readonly part: string },
  { at, field }: { readonly at: FieldReader; readonly field: string },
): FieldReader {
  const entries = root.objects(list)
  const name = at.text(field)
  const entry = entries.find((each) => each.text('name') === name)
  if (name !== '' && entry !== undefined) return entry.object(part)
  const known = entries.map((each) => JSON.stringify(each.text('name'))).join(', ')
  const expected = known === '' ? `and ${list} has none` : `expected one of ${list}: ${known}`
  throw at.fault(field, name === '' ? `it is empty, ${expected}` : `there is no ${JSON.stringify(name)}, ${expected}`)
}

import type { Route } from './route.ts'

/** Where a request goes, by its path and method. */
export type Destination =
  | {
      readonly kind: 'found'
      readonly route: Route
      readonly parameters: Readonly<Record<string, string>>
      readonly label: string
    }
  | { readonly kind: 'wrongMethod'; readonly allowed: readonly string[]; readonly label: string }
  /** A client that may not ask there does not learn that there is nothing. */
  | { readonly kind: 'nothing'; readonly label: string }

interface Row {
  readonly route: Route
  readonly parts: readonly string[]
  /** The parts before the first that varies. */
  readonly prefix: readonly string[]
  readonly label: string
}

const isVariable = (part: string) => part.startsWith(':') || part.startsWith('*')

/** Finds the endpoint of a request. A slash at the end of a path makes no difference. */
export class RouteTable {
  readonly #rows: readonly Row[]

  constructor(routes: readonly Route[]) {
    this.#rows = routes.map(toRow).sort(bySpecificity)
  }

  find(method: string, segments: readonly string[]): Destination {
    const near = this.#rows.find(({ parts }) => parts[0] === segments[0])
    if (near === undefined) return { kind: 'nothing', label: 'other' }
    const fitting = this.#rows.flatMap((row) => {
      const parameters = match(row.parts, segments)
      return parameters === undefined ? [] : [{ row, parameters }]
    })
    const [first] = fitting
    if (first === undefined) return { kind: 'nothing', label: near.label }
    const taken = fitting.find(({ row: { route } }) => route.methods === 'any' || route.methods.includes(method))
    const { label } = (taken ?? first).row
    if (taken !== undefined) return { kind: 'found', route: taken.row.route, parameters: taken.parameters, label }
    return { kind: 'wrongMethod', allowed: fitting.flatMap(({ row }) => listMethods(row.route)), label }
  }
}

function toRow(route: Route): Row {
  const parts = route.path.split('/').filter((part) => part !== '')
  const end = parts.findIndex(isVariable)
  const prefix = end === -1 ? parts : parts.slice(0, end)
  // As in the Go kubelet: the first part decides, except for the several kinds of metrics.
  const label = prefix[0] === 'metrics' ? prefix.join('/') : (prefix[0] ?? 'other')
  return { route, parts, prefix, label }
}

/** Longer fixed beginnings first, and among equals those that take everything last. */
function bySpecificity(a: Row, b: Row): number {
  const rest = ({ parts }: Row) => Number(parts.at(-1)?.startsWith('*') ?? false)
  return b.prefix.length - a.prefix.length || rest(a) - rest(b)
}

function match(parts: readonly string[], segments: readonly string[]): Readonly<Record<string, string>> | undefined {
  const parameters: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const segment = segments[index]
    if (segment === undefined) return undefined
    if (part.startsWith('*')) return { ...parameters, [part.slice(1)]: segments.slice(index).join('/') }
    if (part.startsWith(':')) parameters[part.slice(1)] = segment
    else if (part !== segment) return undefined
  }
  return segments.length === parts.length ? parameters : undefined
}

function listMethods({ methods }: Route): readonly string[] {
  return methods === 'any' ? [] : methods
}

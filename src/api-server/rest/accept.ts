import { notAcceptable } from '../api-error.ts'

/** In which form the reader wants objects. */
export type OutputForm = 'object' | 'Table' | 'PartialObjectMetadata'

interface MediaRange {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
}

/** Reads an Accept header into its media types in the order they are written, which is how clients of the API rank them. */
function parseAccept(header: string | undefined): readonly MediaRange[] {
  return (header ?? '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const pairs = parameters.map((parameter) => parameter.split('=') as [string, string?])
    return { type: type.toLowerCase(), parameters: new Map(pairs.map(([name, value = '']) => [name, value])) }
  })
}

/** The first form that the header names and that we have. Throws NotAcceptable when there is none. */
export function negotiateForm(header: string | undefined): OutputForm {
  for (const { type, parameters } of parseAccept(header)) {
    if (!isJson(type)) continue
    const as = parameters.get('as')
    if (as === undefined) return 'object'
    const isMeta = parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(parameters.get('v') ?? '')
    if (isMeta && as === 'Table') return 'Table'
    if (isMeta && (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')) return 'PartialObjectMetadata'
  }
  throw notAcceptable()
}

/** Whether the first media type that is named is a certain one. */
export function prefers(header: string | undefined, type: string): boolean {
  return parseAccept(header)[0]?.type === type.toLowerCase()
}

/** Whether discovery in one piece is asked for before discovery in many. */
export function wantsAggregatedDiscovery(header: string | undefined): boolean {
  for (const { type, parameters } of parseAccept(header)) {
    if (!isJson(type)) continue
    if (!parameters.has('as')) return false
    if (parameters.get('as') === 'APIGroupDiscoveryList' && parameters.get('v') === 'v2') return true
  }
  return false
}

function isJson(type: string): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*'
}

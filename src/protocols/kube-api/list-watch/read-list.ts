import { GarbledAnswerError } from '../garbled-answer-error.ts'
import { KubeApiError } from '../kube-client.ts'
import type { KubeClient } from '../kube-client.ts'

export interface ListRequest {
  readonly client: Pick<KubeClient, 'send'>
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** "0": what the server has in memory will do. Empty: what is true now. */
  readonly version: '0' | ''
}

export interface ObjectList<T> {
  readonly items: readonly T[]
  readonly version: string
}

interface Page<T> extends ObjectList<T> {
  readonly next: string
}

interface PageBody {
  readonly metadata?: { readonly resourceVersion?: unknown; readonly continue?: unknown }
  readonly items?: unknown
}

const PAGE_ITEMS = 500
// Half a million objects: a server that never ends is not followed.
const MOST_PAGES = 1000

/** A whole list, read in parts. When the parts that are left are gone by then, it is read at once instead. */
export async function readList<T>(request: ListRequest, signal: AbortSignal): Promise<ObjectList<T>> {
  const first = { ...request.query, ...(request.version !== '' && { resourceVersion: request.version }) }
  try {
    return await readPages<T>(request, { ...first, limit: String(PAGE_ITEMS) }, signal)
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.code !== 410) throw error
    const { items, version } = await readPage<T>(request, request.query, signal)
    return { items, version }
  }
}

async function readPages<T>(
  request: ListRequest,
  first: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ObjectList<T>> {
  const { items, version, next } = await readPage<T>(request, first, signal)
  const all = [...items]
  let token = next
  for (let count = 1; token !== ''; count += 1) {
    if (count >= MOST_PAGES)
      throw new GarbledAnswerError(`Cannot list "${request.path}": more than ${MOST_PAGES} parts`)
    const page = await readPage<T>(request, { ...request.query, limit: String(PAGE_ITEMS), continue: token }, signal)
    for (const item of page.items) all.push(item)
    token = page.next
  }
  // That of the first part: what changed since then comes with the watch, whatever the other parts already show.
  return { items: all, version }
}

async function readPage<T>(
  { client, path }: ListRequest,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Page<T>> {
  const body = await client.send<PageBody | null>({ method: 'GET', path, query }, signal)
  const { resourceVersion, continue: next = '' } = body?.metadata ?? {}
  // Go writes a list without items as null.
  const items = body?.items ?? []
  if (
    typeof resourceVersion !== 'string' ||
    resourceVersion === '' ||
    typeof next !== 'string' ||
    !Array.isArray(items)
  ) {
    throw new GarbledAnswerError(`Cannot list "${path}": the answer is no list with a version`)
  }
  return { items: items as readonly T[], version: resourceVersion, next }
}

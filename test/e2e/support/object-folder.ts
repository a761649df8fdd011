import { watch as watchFiles } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parseText } from '../../../src/base/document/parse-text.ts'
import type { ObjectMeta } from '../../../src/model/generated/core-v1.ts'
import { ObjectError } from '../../../src/pods/objects/object-api.ts'
import type {
  ObjectApi,
  NamespacedName,
  ReferencedKind,
  ReferencedKinds,
  TokenSpec,
} from '../../../src/pods/objects/object-api.ts'
import { apiNotFound } from '../../fakes/api-not-found.ts'

interface FiledObject {
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

/**
 * An API over a folder of YAML or JSON files with one object each, for an agent in a process of its own: a test writes files and removes
 * them. Write a file under another ending and rename it, so that no half of it is read. A file ".down" makes every question fail.
 */
export function createObjectFolder(
  folder: string,
  options: { readonly tokenLifeSeconds?: number; readonly now?: () => number } = {},
): ObjectApi {
  let tokens = 0
  const now = options.now ?? Date.now
  return {
    async get<K extends ReferencedKind>(kind: K, key: NamespacedName, _: unknown, signal: AbortSignal) {
      signal.throwIfAborted()
      const object = await find(folder, kind, key)
      if (object === undefined) throw apiNotFound(kind, key)
      return object
    },
    patchClaimStatus: (key) => Promise.reject(apiNotFound('PersistentVolumeClaim', key)),
    watch: (kind, key, onObject, signal) => watchObject({ folder, kind, key, onObject }, signal),
    async createToken({ namespace, name }: NamespacedName, { expirationSeconds }: TokenSpec, signal: AbortSignal) {
      signal.throwIfAborted()
      await readNames(folder)
      tokens += 1
      const lifeSeconds = options.tokenLifeSeconds ?? expirationSeconds
      return {
        token: `${namespace}.${name}.${now()}.${tokens}`,
        expiresAt: now() + lifeSeconds * 1000,
        lifeSeconds,
      }
    },
  }
}

interface FolderWatch<K extends ReferencedKind> {
  readonly folder: string
  readonly kind: K
  readonly key: NamespacedName
  readonly onObject: (object: ReferencedKinds[K] | undefined) => void
}

async function watchObject<K extends ReferencedKind>(
  { folder, kind, key, onObject }: FolderWatch<K>,
  signal: AbortSignal,
): Promise<never> {
  signal.throwIfAborted()
  const end = Promise.withResolvers<never>()
  const abort = () => end.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  let reported: { readonly object: ReferencedKinds[K] | undefined } | undefined
  let checks: Promise<void> = Promise.resolve()
  const check = () => {
    checks = checks
      .then(async () => {
        const object = await find(folder, kind, key)
        if (signal.aborted || (reported !== undefined && isDeepStrictEqual(reported.object, object))) return
        reported = { object }
        onObject(object)
      })
      .catch(end.reject)
  }
  const watcher = watchFiles(folder, check)
  watcher.on('error', end.reject)
  check()
  try {
    return await end.promise
  } finally {
    watcher.close()
    signal.removeEventListener('abort', abort)
  }
}

async function readNames(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder)
  if (names.includes('.down')) throw new ObjectError('Unavailable', 'the API server is away')
  return names.filter((name) => /^[^.].*\.(ya?ml|json)$/.test(name)).sort()
}

async function find<K extends ReferencedKind>(
  folder: string,
  kind: K,
  { namespace, name }: NamespacedName,
): Promise<ReferencedKinds[K] | undefined> {
  // A file that is named after its object is found at once, however many there are.
  const files = await readNames(folder)
  for (const file of files.toSorted((a, b) => Number(b.includes(name)) - Number(a.includes(name)))) {
    const bytes = await readFile(join(folder, file)).catch(() => undefined)
    if (bytes === undefined) continue
    const object = parseText(bytes).value as unknown as FiledObject
    const { metadata } = object
    if (object.kind === kind && metadata?.name === name && (metadata.namespace ?? '') === namespace) return object
  }
  return undefined
}

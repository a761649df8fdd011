import { isPayloadTree } from './payload.ts'
import type { Payload, PayloadFile, PayloadTree } from './payload.ts'

/** A path that no volume can show; nothing was written. */
class PayloadError extends Error {
  override readonly name = 'PayloadError'

  constructor(path: string, state: string) {
    super(`Cannot write "${path}" into a volume: ${state}`)
  }
}

type Node = PayloadFile | Map<string, Node>

// What Linux takes; counted in bytes.
const LONGEST_PATH = 4096
const LONGEST_NAME = 255

/** Checks all paths and sorts the files into directories. */
export function parsePayload(payload: Payload): PayloadTree {
  const tree = new Map<string, Node>()
  for (const [path, file] of payload) put(tree, path, file)
  return tree
}

function put(tree: Map<string, Node>, path: string, file: PayloadFile): void {
  const names = toNames(path)
  let directory = tree
  for (const name of names.slice(0, -1)) {
    const next = directory.get(name) ?? new Map<string, Node>()
    if (!(next instanceof Map)) throw new PayloadError(path, `"${name}" is a file already, expected a directory`)
    directory.set(name, next)
    directory = next
  }
  const last = names.at(-1) ?? ''
  const old = directory.get(last)
  if (old !== undefined && isPayloadTree(old))
    throw new PayloadError(path, 'a directory of this name is needed already')
  directory.set(last, file)
}

function toNames(path: string): readonly string[] {
  if (path === '') throw new PayloadError(path, 'the path is empty')
  if (path.startsWith('/')) throw new PayloadError(path, 'expected a relative path')
  if (path.includes('\0')) throw new PayloadError(path, 'the path has a zero byte')
  if (Buffer.byteLength(path) > LONGEST_PATH)
    throw new PayloadError(path, `the path is longer than ${LONGEST_PATH} bytes`)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.length === 0) throw new PayloadError(path, 'expected the path of a file')
  if (names.includes('..')) throw new PayloadError(path, 'the path leads upwards by ".."')
  // Such names are the writer's own.
  if (names[0]?.startsWith('..') === true) throw new PayloadError(path, 'the path begins with ".."')
  const long = names.find((name) => Buffer.byteLength(name) > LONGEST_NAME)
  if (long !== undefined) throw new PayloadError(path, `a name in it is longer than ${LONGEST_NAME} bytes`)
  return names
}

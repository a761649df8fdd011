import { join } from 'node:path'
import { inspectPath, isLink, listNames } from '../../system/files/read-bounded-file.ts'

/** What a folder holds, with its sub-folders. */
export interface FolderTree {
  /** Paths below the folder, of files that may have objects. */
  readonly files: readonly string[]
  /** Paths below the folder of those folders that a kustomization is in; what else is in them belongs to it. */
  readonly kustomizations: readonly string[]
  /** Paths below the folder of links to folders: they may lead out of it and around, so nothing behind them is applied. */
  readonly links: readonly string[]
  /** Whole paths of all folders, for those who watch them. */
  readonly folders: readonly string[]
  /** Changes when anything in it does. */
  readonly stamp: string
}

const FILES = /\.(?:ya?ml|json)$/
const KUSTOMIZATIONS: ReadonlySet<string> = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization'])
// Deeper than any sensible folder.
const DEEPEST = 16

/** Lists a folder and those below it; names that begin with a dot are left out. Fails when the folder cannot be listed. */
export async function listFolderTree(root: string, signal: AbortSignal): Promise<FolderTree> {
  const files: string[] = []
  const kustomizations: string[] = []
  const links: string[] = []
  const folders: string[] = []
  const stamps: string[] = []
  const visit = async (below: string, depth: number, isOwned: boolean): Promise<void> => {
    signal.throwIfAborted()
    const folder = join(root, below)
    const names = (await listNames(folder)).filter((name) => !name.startsWith('.'))
    folders.push(folder)
    const isKustomization = names.some((name) => KUSTOMIZATIONS.has(name))
    if (isKustomization && !isOwned) kustomizations.push(below)
    for (const name of names) {
      const path = join(below, name)
      const found = await inspectPath(join(root, path))
      stamps.push(`${path} ${found.kind === 'file' ? found.stamp : found.kind}`)
      if (found.kind === 'directory' && (await isLink(join(root, path)))) {
        // A kustomization may refer to it by itself.
        if (!isOwned && !isKustomization) links.push(path)
      } else if (found.kind === 'directory' && depth < DEEPEST) await visit(path, depth + 1, isOwned || isKustomization)
      else if (found.kind !== 'directory' && !isOwned && !isKustomization && FILES.test(name)) files.push(path)
    }
  }
  await visit('', 0, false)
  return { files, kustomizations, links, folders, stamp: stamps.join('\n') }
}

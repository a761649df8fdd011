import { lstatSync } from 'node:fs'
import type { Stats } from 'node:fs'
import type { TreeUsage } from '../../files/file-usage.ts'
import { holdTrusted } from './held-path.ts'
import { walkTree } from './walk-tree.ts'

/** The unit of st_blocks, whatever the file system. */
const BLOCK_BYTES = 512

/** What a tree takes on its disk: allocated blocks, each inode once, so holes are free and further links too. */
export function measureTree(request: { readonly root: string }, onEntry: () => void): TreeUsage {
  let blocks = 0
  let inodes = 0
  const seen = new Set<number>()
  const count = (stat: Stats | undefined) => {
    onEntry()
    if (stat === undefined) return
    if (stat.nlink > 1 && !stat.isDirectory()) {
      if (seen.has(stat.ino)) return
      seen.add(stat.ino)
    }
    blocks += stat.blocks
    inodes += 1
  }
  using root = holdTrusted(request.root)
  if (root.stat().isDirectory()) {
    const device = root.stat().dev
    walkTree(root, {
      file: (directory, name) => {
        const stat = lstatSync(directory.entry(name), { throwIfNoEntry: false })
        count(stat?.dev === device ? stat : undefined)
      },
      leave: (directory) => count(directory.stat()),
    })
  } else count(root.stat())
  return { bytes: blocks * BLOCK_BYTES, inodes }
}

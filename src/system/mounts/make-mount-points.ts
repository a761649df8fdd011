import { HeldDirectory } from '../files/payload/held-directory.ts'

const MODE = 0o755

/** Makes directories inside a volume for other volumes to be mounted on; no link is followed on the way. */
export async function makeMountPoints(root: string, paths: readonly string[]): Promise<void> {
  await using directory = await HeldDirectory.open(root)
  for (const path of paths)
    await makePath(
      directory,
      path.split('/').filter((name) => name !== '' && name !== '.'),
    )
}

async function makePath(parent: HeldDirectory, [name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined) return
  if (name === '..') throw new Error('Cannot make a mount point outside of its volume: its path has ".."')
  const isNew = await parent.makeDirectory(name).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      return false
    },
  )
  await using directory = await parent.directory(name)
  if (isNew) await directory.setPermissions({ mode: MODE, owner: undefined, group: undefined })
  await makePath(directory, rest)
}

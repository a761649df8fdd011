import { getAssetKeys, getRawAsset, isSea } from 'node:sea'

/** Where the files of the executable seem to lie. No real file can: what is in front of it is no folder. */
export const EXECUTABLE_FOLDER = '/proc/self/exe/'

/** Whether this program is the executable (tools/package), which has all its files in itself. */
export const isExecutable: boolean = isSea()

/** A file of the executable; its path begins with EXECUTABLE_FOLDER. */
export function readExecutableFile(path: string): Buffer {
  return Buffer.from(getRawAsset(path.slice(EXECUTABLE_FOLDER.length)))
}

/** The names of the files in a folder of the executable. */
export function listExecutableFolder(path: string): readonly string[] {
  const folder = `${path.slice(EXECUTABLE_FOLDER.length)}/`
  return getAssetKeys().flatMap((key) => (key.startsWith(folder) ? [key.slice(folder.length)] : []))
}

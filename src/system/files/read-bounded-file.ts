import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { lstat, open, readdir, stat } from 'node:fs/promises'
import { errorMessage } from '../../base/telemetry/error-text.ts'

/** What is at a path, without opening it. */
export type FoundAtPath =
  /** `stamp` changes whenever the content may have. */
  | {
      readonly kind: 'file'
      readonly identity: string
      readonly stamp: string
      readonly size: number
      readonly modifiedAt: number
    }
  /** `identity` changes when another directory or file takes the place. */
  | { readonly kind: 'directory'; readonly identity: string }
  | { readonly kind: 'missing' }
  /** Something that is neither. */
  | { readonly kind: 'special'; readonly reason: string }
  /** It cannot be determined now. */
  | { readonly kind: 'failed'; readonly reason: string }

/** Content of a file, or why it has none for us. */
export type ReadResult =
  | { readonly kind: 'content'; readonly bytes: Uint8Array }
  | { readonly kind: 'unusable'; readonly reason: string }
  /** It cannot be read now: that says nothing of its content. */
  | { readonly kind: 'failed'; readonly reason: string; readonly error: unknown }

/** Inspects a path through symbolic links; never blocks on what is there. */
export async function inspectPath(path: string): Promise<FoundAtPath> {
  let stats: BigIntStats
  try {
    stats = await stat(path, { bigint: true })
  } catch (error) {
    return await explainFailure(path, error as NodeJS.ErrnoException)
  }
  const identity = `${stats.dev}:${stats.ino}`
  if (stats.isDirectory()) return { kind: 'directory', identity }
  if (!stats.isFile()) return { kind: 'special', reason: specialKind(stats) }
  const stamp = `${identity}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`
  return { kind: 'file', identity, stamp, size: Number(stats.size), modifiedAt: Number(stats.mtimeMs) }
}

/** Whether there is a symbolic link, wherever it leads. */
export async function isLink(path: string): Promise<boolean> {
  return await lstat(path).then(
    (stats) => stats.isSymbolicLink(),
    () => false,
  )
}

/** The names in a directory, sorted as bytes. */
export async function listNames(path: string): Promise<readonly string[]> {
  return (await readdir(path)).sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
}

/**
 * Reads a regular file of at most maxBytes. O_NONBLOCK: should a FIFO have taken the place since the path was inspected, opening
 * it returns at once instead of blocking a thread of the process for ever.
 */
export async function readBoundedFile(path: string, maxBytes: number): Promise<ReadResult> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return { kind: 'unusable', reason: 'not a regular file' }
      if (stats.size > maxBytes)
        return { kind: 'unusable', reason: `${stats.size} bytes, expected at most ${maxBytes}` }
      const buffer = Buffer.alloc(stats.size)
      let length = 0
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return { kind: 'content', bytes: buffer.subarray(0, length) }
    } finally {
      await file.close()
    }
  } catch (error) {
    return { kind: 'failed', reason: errorMessage(error), error }
  }
}

async function explainFailure(path: string, error: NodeJS.ErrnoException): Promise<FoundAtPath> {
  if (error.code === 'ELOOP') return { kind: 'special', reason: 'symbolic links that form a loop' }
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') return { kind: 'failed', reason: error.message }
  return (await isLink(path)) ? { kind: 'special', reason: 'a symbolic link to nothing' } : { kind: 'missing' }
}

function specialKind(stats: BigIntStats): string {
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  return stats.isCharacterDevice() || stats.isBlockDevice() ? 'a device' : 'not a regular file'
}

/** The same; undefined when there is no such file. */
export async function readIfPresent(path: string, maxBytes: number): Promise<ReadResult | undefined> {
  return (await inspectPath(path)).kind === 'missing' ? undefined : await readBoundedFile(path, maxBytes)
}

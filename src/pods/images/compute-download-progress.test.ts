import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeDownloadProgress, sumDownloads } from './compute-download-progress.ts'

test('computeDownloadProgress() follows the parts of a pull', () => {
  const part = (ref: string, doneBytes: number, totalBytes: number, startedAt = 100) => {
    return { ref, doneBytes, totalBytes, startedAt }
  }
  const looks = [
    [],
    [part('a', 10, 100), part('old', 5, 50, 99)],
    [part('a', 60, 100), part('b', 7, 0)],
    [part('b', 20, 0)],
    [part('a', 1, 100)],
  ]
  let known: ReturnType<typeof computeDownloadProgress> = new Map()
  const sums = looks.map((downloads) => {
    known = computeDownloadProgress(known, downloads, 100)
    const { doneBytes, totalBytes } = sumDownloads(known) ?? {}
    return [doneBytes, totalBytes]
  })
  assert.deepEqual(sums, [
    [undefined, undefined],
    [10, 100],
    [67, 107],
    [120, 120],
    // Begun again.
    [21, 120],
  ])
})
